// Package group is the group coordinator: who is a member of which group, in which generation, with which assignment, and how far each
// group is (its committed offsets, which the journal keeps).
//
// Members are not kept through a restart: they find themselves unknown and join again. It speaks in the protocol's requests and
// responses. Of this module it imports only cmd/engine/kafkaserver/journal.
package group
