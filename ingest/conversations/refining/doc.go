// Package refining has a language model write about clusters of issues: a title and a sentence or two of summary, in the language that
// most of the issues are written in. The model is told the titles of a few issues and nothing else. What clusters there are, and what is
// in them, it does not decide: that stays with the method of package conversations, whose results are the same every time.
//
// It imports of Octavo packages chat and provider.
package refining
