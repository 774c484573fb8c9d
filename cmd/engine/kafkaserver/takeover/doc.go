// Package takeover brings what the broker of before kept (franz-go's kfake, up to commit 722db72) into this one's form, once: topics,
// record batches at their offsets, and committed offsets with their metadata.
//
// It reads batch by batch and writes into a directory of its own that gets its name when all is on the disk: a stop before that, however
// it comes, begins again. The old directory is kept, under another name. Producers' sequences are learnt from the batches; members of
// groups join again.
package takeover
