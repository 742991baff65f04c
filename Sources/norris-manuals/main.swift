// Copies a manual page of Scripts/man from standard input to standard output, and replaces each line `.\" insert NAME`
// by the part of that name. Run by Scripts/build; not installed.

while let line = readLine() { print(ManualPart.replacement(of: line) ?? line) }
