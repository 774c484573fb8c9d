// Package typst makes PDFs: it runs typst's compiler, which npm installed as WebAssembly, in a child process that gets its
// input on stdin and gives the PDF on stdout.
//
// The child is Node.js with its permission model: it may read the compiler and the fonts, and nothing else; it has no
// network, writes no files and starts no processes. The compiler within it is WebAssembly without access to the system.
// Where the system allows it, the child also has network and process namespaces of its own. Its memory is watched and
// limited, and it is killed when the context ends or this process dies.
//
// A file formulas.json of the input is a list of TeX formulas, which a converter in the child turns into typst's
// mathematics. They come back as typeset.json: formulas.mjs passes nothing except mathematics.
//
// For the first document of a process, a child describes the fonts, which takes a second. Later children get the
// descriptions.
//
// It must not import packages above cmd/engine.
package typst
