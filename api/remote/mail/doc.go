// Package mail sends mails through the SMTP server that the operator names. Its one job is that every way in which a mail can fail
// to be sent is one of a closed set of reasons, which say whether it is the mail or the server that failed, and whether the same
// mail may be sent later. What a mail says is known by its users.
//
// It imports of Octavo only package outbound.
package mail
