// swift-tools-version: 6.2
import PackageDescription

// Rules of this file:
//  - One section for each kind of target: executables, composition, modules, shared types, tests, fuzzing.
//  - The dependencies of a target are its modules, products and programs, each sorted by name.
//  - A target declares each module that it imports; the build is run with
//    `--explicit-target-dependency-import-check error`, so an undeclared import fails.

let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let serviceLifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")

// The fuzz targets want the whole program instrumented; see Scripts/fuzz.
let fuzzes = Context.environment["NORRIS_FUZZ"] == "1"

// Scripts/build does without the tests: a build without a named product includes what they share, a twentieth more.
let isTested = Context.environment["NORRIS_TESTS"] != "0"

// Scripts/test --sanitize thread replaces the module Synchronization, whose locks that sanitizer does not see.
let showsLocks = Context.environment["NORRIS_SANITIZE"] == "thread"

// No library looks up symbols of a program, so symbols need not be exported: 2 MB of norrisd.
let linkedWithoutExports: [LinkerSetting] = [
    .unsafeFlags(["-Xlinker", "--no-export-dynamic", "-Xlinker", "--gc-sections"], .when(configuration: .release))
]

let executables: [Target] = [
    .executableTarget(name: "norris-card", dependencies: ["NorrisCards"], linkerSettings: linkedWithoutExports),
    .executableTarget(name: "norris-fetch", dependencies: ["NorrisFetch"], linkerSettings: linkedWithoutExports),
    .executableTarget(
        name: "norrisctl",
        dependencies: ["NorrisCommands"],
        // One static file that starts in a millisecond; needs `--static-swift-stdlib`, so debug builds go without.
        linkerSettings: [
            .unsafeFlags(["-static-executable", "-Xlinker", "--gc-sections"], .when(configuration: .release))
        ]
    ),
    .executableTarget(
        name: "norrisd",
        dependencies: ["NorrisDaemon"],
        linkerSettings: linkedWithoutExports
    ),
    // Only for Scripts/build.
    .executableTarget(
        name: "norris-manuals",
        dependencies: ["NorrisArguments", "NorrisCommands", "NorrisDaemon", "NorrisProtocol", "NorrisText"]),
]

let composition: [Target] = [
    .target(
        name: "NorrisCommands",
        dependencies: [
            "NorrisArguments", "NorrisClient", "NorrisPages", "NorrisProtocol", "NorrisSystem", "NorrisTerminal",
            "NorrisText",
        ]
    ),
    .target(
        name: "NorrisDaemon",
        dependencies: [
            "CLinux", "CYAML", "NorrisArguments", "NorrisFetchProtocol", "NorrisPrefetch", "NorrisProtocol",
            "NorrisServer", "NorrisStore", "NorrisSystem", "NorrisText", "NorrisThreads", "SystemdIntegration",
            logging, serviceLifecycle, unixSignals,
        ]
    ),
]

let modules: [Target] = [
    .target(
        name: "NorrisCards",
        dependencies: ["CPNG", "CPango", "NorrisArguments", "NorrisProtocol", "NorrisSystem", "NorrisText"]
    ),
    .target(name: "NorrisClient", dependencies: ["CLinux", "NorrisProtocol", "NorrisSystem"]),
    .target(
        name: "NorrisFetch",
        dependencies: [
            "CCurl", "CLinux", "CZlib", "NorrisArguments", "NorrisFetchProtocol", "NorrisProtocol", "NorrisSystem",
            "NorrisText",
        ],
        resources: [.embedInCode("Decoding/EncodingLabels.txt"), .embedInCode("Markup/References.txt")]
    ),
    .target(name: "NorrisPages", dependencies: ["NorrisProtocol", "NorrisText"]),
    .target(
        name: "NorrisPrefetch",
        dependencies: [
            "CLinux", "NorrisFetchProtocol", "NorrisProtocol", "NorrisSystem", "NorrisText", "NorrisThreads", logging,
            serviceLifecycle,
        ]
    ),
    .target(
        name: "NorrisServer",
        dependencies: ["CLinux", "NorrisProtocol", "NorrisSystem", "NorrisThreads", logging, serviceLifecycle]
    ),
    .target(
        name: "NorrisStore",
        dependencies: [
            "CLinux", "CSQLite", "NorrisFetchProtocol", "NorrisProtocol", "NorrisSystem", "NorrisText", "NorrisThreads",
            logging,
        ],
        resources: [.embedInCode("StartingCollection.txt")]
    ),
    .target(name: "NorrisTerminal", dependencies: ["NorrisProtocol", "NorrisSystem", "NorrisText"]),
    .target(name: "SystemdIntegration", dependencies: ["CSystemd", "NorrisSystem"]),
]

let sharedTypes: [Target] = [
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
    .systemLibrary(name: "CPango", pkgConfig: "pangocairo", providers: [.apt(["libpango1.0-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
    .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .target(name: "NorrisArguments", dependencies: ["NorrisText"]),
    .target(name: "NorrisFetchProtocol", dependencies: ["NorrisProtocol"]),
    .target(name: "NorrisProtocol"),
    .target(name: "NorrisSystem", dependencies: ["CLinux"]),
    .target(name: "NorrisText"),
    .target(name: "NorrisThreads"),
]

let tests: [Target] = [
    .testTarget(
        name: "EndToEndTests",
        dependencies: [
            "NorrisProtocol", "NorrisTestSupport", "norris-card", "norris-fetch", "norris-sandbox-probe", "norrisctl",
            "norrisd",
        ]),
    .testTarget(name: "NorrisArgumentsTests", dependencies: ["NorrisArguments", "NorrisTestSupport"]),
    .testTarget(
        name: "NorrisCardsTests",
        dependencies: [
            "CPango", "NorrisArguments", "NorrisCards", "NorrisProtocol", "NorrisTestSupport", "norris-card",
        ],
        exclude: ["Golden"]
    ),
    .testTarget(
        name: "NorrisClientTests",
        dependencies: ["NorrisClient", "NorrisProtocol", "NorrisSystem", "NorrisTestSupport"]
    ),
    .testTarget(
        name: "NorrisCommandsTests",
        dependencies: [
            "NorrisArguments", "NorrisClient", "NorrisCommands", "NorrisProtocol", "NorrisSystem", "NorrisTerminal",
            "NorrisTestSupport", "norris-manuals",
        ],
        exclude: ["Golden"]
    ),
    .testTarget(
        name: "NorrisDaemonTests",
        dependencies: [
            "NorrisArguments", "NorrisClient", "NorrisCommands", "NorrisDaemon", "NorrisFetch", "NorrisFetchProtocol",
            "NorrisPrefetch", "NorrisProtocol", "NorrisServer", "NorrisStore", "NorrisSystem", "NorrisTestSupport",
            "NorrisText", "NorrisThreads", "SystemdIntegration", logging, serviceLifecycle, "norris-fetch",
            "norris-manuals",
        ]
    ),
    .executableTarget(
        name: "norris-sandbox-probe", dependencies: ["CLinux", "NorrisFetch"], path: "Tests/SandboxProbe"),
    .testTarget(
        name: "NorrisFetchTests",
        dependencies: [
            "NorrisFetch", "NorrisFetchProtocol", "NorrisProtocol", "NorrisSystem", "NorrisTestSupport", "NorrisText",
            "norris-fetch", "norris-sandbox-probe",
        ]
    ),
    .testTarget(
        name: "NorrisPagesTests", dependencies: ["NorrisPages", "NorrisProtocol", "NorrisTestSupport", "NorrisText"]),
    .testTarget(
        name: "NorrisPrefetchTests",
        dependencies: [
            "NorrisFetchProtocol", "NorrisPrefetch", "NorrisProtocol", "NorrisSystem", "NorrisTestSupport",
            "NorrisThreads", logging, serviceLifecycle, "norris-fetch", "norris-sandbox-probe",
        ]
    ),
    .testTarget(
        name: "NorrisProtocolTests",
        dependencies: ["NorrisFetchProtocol", "NorrisProtocol", "NorrisTestSupport"],
        resources: [.copy("JSONTestSuite")]
    ),
    .testTarget(
        name: "NorrisServerTests",
        dependencies: [
            "NorrisProtocol", "NorrisServer", "NorrisSystem", "NorrisTestSupport", "NorrisThreads", logging,
            serviceLifecycle,
        ]
    ),
    .testTarget(
        name: "NorrisStoreTests",
        dependencies: [
            "NorrisFetch", "NorrisFetchProtocol", "NorrisProtocol", "NorrisStore", "NorrisSystem", "NorrisTestSupport",
            "NorrisText", "NorrisThreads", logging,
        ]
    ),
    .testTarget(name: "NorrisSystemTests", dependencies: ["NorrisSystem", "NorrisTestSupport"]),
    .testTarget(
        name: "NorrisTerminalTests",
        dependencies: ["NorrisProtocol", "NorrisTerminal", "NorrisTestSupport", "NorrisText"]
    ),
    .testTarget(name: "NorrisTextTests", dependencies: ["NorrisTestSupport", "NorrisText"]),
    .testTarget(name: "NorrisThreadsTests", dependencies: ["NorrisTestSupport", "NorrisThreads"]),
    .testTarget(
        name: "SystemdIntegrationTests", dependencies: ["NorrisSystem", "NorrisTestSupport", "SystemdIntegration"]),
    .target(
        name: "NorrisTestSupport",
        dependencies: ["NorrisArguments", "NorrisPrefetch", "NorrisProtocol", "NorrisSystem", logging],
        path: "Tests/Support"
    ),
]

// The fuzz targets: a program for libFuzzer, whose main function it calls and which `-sanitize=fuzzer` links, or else
// unit tests of the stored inputs.
let fuzzed: [Target.Dependency] = [
    "NorrisClient", "NorrisCommands", "NorrisDaemon", "NorrisFetch", "NorrisFetchProtocol", "NorrisProtocol",
    "NorrisServer", "NorrisStore", "NorrisSystem", "NorrisTerminal", "NorrisText",
]
let fuzzing: Target =
    fuzzes
    ? .executableTarget(
        name: "norris-fuzz", dependencies: fuzzed, path: "Tests/Fuzzing", exclude: ["Corpora", "CorpusTests.swift"])
    : .testTarget(
        name: "FuzzingTests", dependencies: fuzzed, path: "Tests/Fuzzing",
        exclude: ["Corpora", "Driver.swift"])

let visibleLocks: [Target] = [.target(name: "VisibleLocks", path: "Tests/VisibleLocks")]

let package = Package(
    name: "norrisd",
    products: [
        .executable(name: "norris-card", targets: ["norris-card"]),
        .executable(name: "norris-fetch", targets: ["norris-fetch"]),
        .executable(name: "norrisctl", targets: ["norrisctl"]),
        .executable(name: "norrisd", targets: ["norrisd"]),
    ],
    // Exact versions, so that anyone can repeat a build. To raise them: write new versions of the first two packages,
    // write the versions of the other two that `swift package update` then asks for, and run Scripts/test.
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-async-algorithms", exact: "1.1.4"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
    ],
    targets: executables + composition + modules + sharedTypes
        + (isTested ? tests + [fuzzing] + (showsLocks ? visibleLocks : []) : []),
    swiftLanguageModes: [.v6]
)

// Continuous integration turns warnings of our own code into errors; a user's build with a newer compiler goes on.
let warningsAreErrors = Context.environment["NORRIS_WARNINGS_AS_ERRORS"] == "1"

// What runs once for a command, and whose pages cost more than its instructions.
let compiledForSize: Set = ["NorrisArguments", "NorrisCommands", "NorrisPages", "NorrisTerminal", "norrisctl"]

// What computes every pixel of a picture: without optimisation its tests would take minutes.
let alwaysOptimized: Set = ["NorrisCards"]

for target in package.targets where target.type != .system {
    var settings = target.swiftSettings ?? []
    if compiledForSize.contains(target.name) {
        settings.append(.unsafeFlags(["-Osize"], .when(configuration: .release)))
    }
    // Regular expressions, and the searches of the standard library in their module, are 1 MB of each program;
    // NorrisText/Parts.swift has what is used instead. Only targets outside of Sources have a path or are tests.
    if target.path == nil, target.type != .test {
        settings.append(.unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"]))
    }
    if alwaysOptimized.contains(target.name) {
        settings.append(.unsafeFlags(["-O"], .when(configuration: .debug)))
    }
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
    settings.append(.enableUpcomingFeature("ExistentialAny"))
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
    settings.append(.enableUpcomingFeature("InternalImportsByDefault"))
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
    settings.append(.enableUpcomingFeature("MemberImportVisibility"))
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0339-module-aliasing-for-disambiguation.md
    if showsLocks, target.name != "VisibleLocks" {
        target.dependencies.append("VisibleLocks")
        settings.append(.unsafeFlags(["-module-alias", "Synchronization=VisibleLocks"]))
    }
    // A sanitizer takes more than the address space that norris-fetch leaves itself.
    if showsLocks, target.name == "NorrisFetch" { settings.append(.define("NORRIS_SANITIZED")) }
    if warningsAreErrors {
        settings.append(.treatAllWarnings(as: .error))
    }
    target.swiftSettings = settings
}
