// Package translation translates rich documents by segments. A segment is the text of one block, or a text beside it such as the
// title of a tab; it is written in a notation in which marks, links, code and whatever else must survive are numbered tags. Its key
// is a hash of all that its translation depends on, so a caller that remembers translations by their keys pays for each once, and a
// change of the glossary touches the segments with the term only.
//
// Places finds the segments of a document and puts translations in their place. Engine sends segments to a provider in bounded
// batches, checks what comes back, and repairs it. Providers are LibreTranslate and language models.
//
// The package stores nothing. It imports of Octavo only schema, and the packages chat and provider.
package translation
