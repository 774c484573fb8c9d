// Package takeover converts the data of the previous broker (franz-go's kfake, up to commit 722db72) once: topics,
// record batches at their offsets, and committed offsets with their metadata.
//
// It copies batch by batch into a temporary directory, which is renamed when everything is on disk: after an
// interruption, the next start begins again. The old directory is kept under another name. Producers' sequences are
// learnt from the batches; members of groups join again.
//
// Of this module it may import only the other packages of cmd/engine/kafkaserver.
package takeover
