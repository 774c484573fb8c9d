// Package typst makes PDFs. It runs typst's compiler, which npm installed as WebAssembly, in a child process. The child
// reads its input from stdin and writes the PDF to stdout.
//
// The child is Node.js with its permission model. It may read only the compiler and the fonts. It has no network,
// writes no files and starts no processes. The compiler in it is WebAssembly without access to the system. If the
// system allows it, the child also has its own network and process namespaces. Its memory is watched and limited. It is
// killed when the context ends or this process dies.
//
// The input may have a file formulas.json with a list of TeX formulas. A converter in the child turns them into typst's
// mathematics. The result is typeset.json. formulas.mjs only accepts mathematics.
//
// For a process's first document, a child describes the fonts, which takes a second. Later children get the
// descriptions.
//
// It must not import packages above cmd/engine.
package typst
