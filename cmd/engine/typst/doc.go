// Package typst makes PDFs. It runs typst's compiler, which npm installed as WebAssembly, in a child process. The child
// reads its input from stdin and writes the PDF to stdout.
//
// The child is Node.js with its permission model. It may read only the compiler and the fonts. It has no network,
// writes no files and starts no processes. The compiler in the child is WebAssembly without access to the system. If
// the system allows it, the child also has its own network and process namespaces. The child's memory is watched and
// limited. The child is killed when the context or this process ends.
//
// The input may have a file formulas.json with a list of TeX formulas. A converter in the child turns the formulas into
// typst's mathematics, and writes the file typeset.json. formulas.mjs rejects everything except mathematics.
//
// Before a process's first document, a separate child describes the fonts, which takes a second. The children for
// documents read these descriptions.
//
// The only other packages of this module that it may import are in cmd/engine.
package typst
