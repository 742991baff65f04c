import NorrisFetchProtocol
import Testing

@testable import NorrisProtocol

/// A property that `visit` does not name is neither sent nor received, and no other test notices that.
struct MembersTests {
    private static var values: [AnyType] {
        let others: [any WireObject.Type] = [
            Post.Author.self, Post.Image.self, Post.Attachment.self, Post.Stats.self, SourceFailure.self,
            SourceStatus.Quota.self, Event.self, Event.NewItem.self, FeedLink.self, PostSources.Source.self,
            ServerStatus.Database.self, FactCategories.Category.self, RecentList.Search.self, AuthorList.Author.self,
            FetchRequest.self, FetchRequest.Proxy.self, FetchHead.self, FetchedPost.self, FetchEnd.self,
            FetchFailure.self, MuteList.Rule.self,
        ]
        return SharedSchemas.types.map { AnyType($0) } + others.map { AnyType($0) }
    }

    @Test(arguments: values + MethodTable.types.flatMap(AnyType.of))
    func eachPropertyIsAMember(type: AnyType) {
        #expect(type.properties == type.members, "Name each property of \(type.testDescription) in its `visit`.")
    }

    struct AnyType: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let properties, members: Int

        init(_ type: any WireObject.Type) {
            testDescription = String(reflecting: type)
            // Giphy's terms demand a constant member. Authors have no numbers. Of settings, the kind and the first
            // fetch cannot change, and the address is another property. A fetched post has the members of a post.
            let others =
                switch type {
                case is Gif.Type: 1
                case is AuthorList.Parameters.Type: -1
                case is SourceEdit.Parameters.Type: -3
                case is FetchedPost.Type: AnyType.properties(of: Post()) - 1
                default: 0
                }
            properties = AnyType.properties(of: type.init()) + others
            members = type.members.count
        }

        /// The parameters and, if it is an object, the result of a method.
        static func of(_ method: any Method.Type) -> [AnyType] {
            func types<M: Method>(_: M.Type) -> [any WireObject.Type] {
                [M.Parameters.self] + [M.Result.self as? any WireObject.Type].compactMap(\.self)
            }
            return types(method).map { AnyType($0) }
        }

        /// Counts the properties of a value. The members of a page and of settings are members of the value itself.
        private static func properties(of value: Any) -> Int {
            Mirror(reflecting: value).children.reduce(0) { sum, child in
                sum + (child.value is PageRequest || child.value is SourceSettings ? properties(of: child.value) : 1)
            }
        }
    }
}
