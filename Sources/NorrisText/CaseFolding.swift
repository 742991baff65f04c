/// The form of a text in which two texts that differ in case alone are the same, for substring search.
///
/// Each scalar goes through Unicode's full case mappings (SpecialCasing.txt included, no locale): to upper case, in
/// which `ß` meets `SS` and `ς` meets `σ`, and on to lower case. `ẞ`, the only letter that is upper case and not what
/// its lower case maps to, needs a lower-casing before. Dotless `ı` folds to `i`; `İ` folds to `i` and U+0307, in which
/// a search by scalars or bytes finds `i`. Folding twice changes nothing more.
///
/// Accents stay, and the text is not normalised: compare results by scalars or bytes.
package func caseFolded(_ text: String) -> String {
    text.lowercased().uppercased().lowercased()
}
