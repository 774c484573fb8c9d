// Package translation translates documents in segments. A segment is the text of one block, or another text of the
// block, such as the title of a tab. A segment is written in a notation. In the notation, numbered tags stand for
// marks, links, code and other parts that must stay. A segment's key is a hash of all inputs of its translation. A
// caller stores translations by their keys, so each translation is paid for only once. If the glossary changes, only
// the keys of segments with the changed term change.
//
// Places returns the segments of a document, and can replace them by translations. Engine sends segments to a provider
// in batches of bounded size. It checks and repairs the translations. The providers are LibreTranslate and language
// models.
//
// The package stores nothing. The only other packages of this module that it imports are schema, chat and provider.
package translation
