#!/usr/bin/env python3
"""Prints the bill of materials of the packages in .build/dist, in the JSON form of SPDX 2.3
(https://spdx.github.io/spdx-spec/v2.3/): the Swift packages, the toolchain, and the libraries of Debian that the
programs contain or load, with their versions. The same tree and machine give the same bytes.

Usage: materials.py VERSION   (after Scripts/package-deb)
"""

import datetime
import glob
import hashlib
import json
import os
import re
import subprocess
import sys

# The archives of Debian in norrisctl, which is linked statically.
ARCHIVES = ["libc.a", "libgcc.a", "libstdc++.a"]
# The names in Scripts/debian/copyright, and those of SPDX.
LICENSES = {
    "Apache-2.0": "Apache-2.0",
    "Apache-2.0 with Swift-runtime exception": "Apache-2.0 WITH Swift-exception",
    "Expat": "MIT",
}
PROGRAMS = {"norrisd": ["norrisctl", "norrisd", "norris-fetch"], "norris-card": ["norris-card"]}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def licenses():
    """The license of each path in Scripts/debian/copyright."""
    found = {}
    with open("Scripts/debian/copyright", encoding="utf-8") as file:
        for paragraph in file.read().split("\n\n"):
            fields = re.match(r"Files: (.*?)\nCopyright: .*?\nLicense: ([^\n]*)", paragraph, re.DOTALL)
            if fields:
                found.update((path, fields[2]) for path in fields[1].split())
    return found


class Document:
    def __init__(self, version):
        self.version = version
        self.packages = {}
        self.relationships = set()

    def add(self, name, version, location, license_name="NOASSERTION", **fields):
        """Adds a package unless it is there, and returns its identifier."""
        identifier = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)
        self.packages.setdefault(identifier, {
            "SPDXID": identifier, "name": name, "versionInfo": version, "downloadLocation": location,
            "filesAnalyzed": False, "licenseConcluded": license_name, "licenseDeclared": license_name,
            "copyrightText": "NOASSERTION", **fields,
        })
        return identifier

    def add_debian(self, path):
        """Adds the Debian package that a file of the system belongs to."""
        path = os.path.realpath(path)
        # dpkg may know the file by the path from before the merge of /lib and /usr/lib.
        found = subprocess.run(
            ["dpkg-query", "--search", path, path.removeprefix("/usr")], capture_output=True, text=True).stdout
        if not found:
            sys.exit(f"materials: {path} belongs to no Debian package")
        name, version, architecture, source = output(
            "dpkg-query", "--show", "--showformat", "${Package}\t${Version}\t${Architecture}\t${source:Package}",
            found.split(": ")[0]).split("\t")
        return self.add(
            name, version, "NOASSERTION", supplier="Organization: Debian", sourceInfo=f"Debian source package {source}",
            externalRefs=[purl(f"pkg:deb/debian/{name.replace('+', '%2B')}@{version.replace('+', '%2B')}"
                               f"?arch={architecture}")])

    def relate(self, package, relationship, other):
        self.relationships.add((package, relationship, other))

    def json(self, created):
        packages = [self.packages[key] for key in sorted(self.packages)]
        content = hashlib.sha256(json.dumps(packages).encode()).hexdigest()
        return {
            "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"norrisd-{self.version}",
            "documentNamespace": f"https://norrisd.invalid/spdx/norrisd-{self.version}-{content}",
            "creationInfo": {"created": created, "creators": [f"Tool: norrisd-materials-{self.version}"]},
            "packages": packages,
            "relationships": [
                {"spdxElementId": one, "relationshipType": relationship, "relatedSpdxElement": other}
                for one, relationship, other in sorted(self.relationships)],
        }


def purl(locator):
    return {
        "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}


def swift_packages(document):
    """The Swift packages of Package.resolved. The commits are left out, because a mirror may have other ones."""
    known = licenses()
    with open("Package.resolved", encoding="utf-8") as file:
        pins = json.load(file)["pins"]
    for pin in pins:
        name, location, version = pin["identity"], pin["location"].removesuffix(".git"), pin["state"]["version"]
        license_name = LICENSES[known[f".build/checkouts/{name}/*"]]
        yield document.add(
            name, version, f"git+{location}@{version}", license_name,
            externalRefs=[purl(f"pkg:swift/{location.removeprefix('https://')}@{version}")])


def needed(program):
    """The paths of the libraries that a program names for the loader; none of a static program."""
    libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "--dynamic", "--wide", program))
    # ldd also lists the libraries of libraries. The loader itself, which has no such line, belongs to libc6 as well.
    loaded = dict(re.findall(r"(\S+) => (\S+)", output("ldd", program))) if libraries else {}
    return [loaded[library] for library in libraries if library in loaded]


def main():
    version = sys.argv[1]
    document = Document(version)
    changelog = output("dpkg-parsechangelog", "--file", "Scripts/debian/changelog", "--show-field", "Timestamp")
    created = datetime.datetime.fromtimestamp(int(changelog), datetime.timezone.utc)

    compiler = re.search(r"Swift version ([0-9.]+)", output("swift", "--version"))[1]
    toolchain = document.add(
        "swift", compiler, "https://www.swift.org/install/linux/", LICENSES["Apache-2.0 with Swift-runtime exception"],
        summary="The compiler, and the standard library, Dispatch and the concurrency runtime in the programs")
    linked = list(swift_packages(document))

    for path in sorted(glob.glob(".build/dist/*.deb")):
        name, package_version = output("dpkg-deb", "--show", "--showformat", "${Package}\t${Version}", path).split("\t")
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        package = document.add(
            name, package_version, "NOASSERTION", packageFileName=os.path.basename(path),
            checksums=[{"algorithm": "SHA256", "checksumValue": digest}],
            supplier="Organization: The norrisd authors", license_name=LICENSES["Expat"],
            copyrightText="2026 The norrisd authors")
        document.relate("SPDXRef-DOCUMENT", "DESCRIBES", package)
        document.relate(package, "STATIC_LINK", toolchain)
        for program in PROGRAMS[name]:
            for library in needed(f".build/dist/{program}"):
                document.relate(package, "DYNAMIC_LINK", document.add_debian(library))
        if name == "norrisd":
            for other in linked:
                document.relate(package, "STATIC_LINK", other)
            for archive in ARCHIVES:
                found = output("clang", f"-print-file-name={archive}").strip()
                document.relate(package, "STATIC_LINK", document.add_debian(found))
    json.dump(document.json(created.strftime("%Y-%m-%dT%H:%M:%SZ")), sys.stdout, indent=2)
    print()


main()
