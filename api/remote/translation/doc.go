// Package translation translates rich documents by segments. A segment is the text of one block, or another text of the
// block such as the title of a tab. In its notation, marks, links, code and other parts that must stay are numbered
// tags. Its key is a hash of all inputs of its translation. So a caller that stores translations by their keys pays for
// each translation once. A change of the glossary changes only the keys of segments with the term.
//
// Places finds the segments of a document and puts translations in their place. Engine sends segments to a provider in bounded
// batches, checks what comes back, and repairs it. Providers are LibreTranslate and language models.
//
// The package stores nothing. It imports of Octavo only schema, and the packages chat and provider.
package translation
