// Package mail sends mails through the SMTP server that the operator names. Every failure has a reason from a closed
// set. A reason says whether the mail or the server failed, and whether a retry may help. The callers write the mails.
//
// Of this module it imports only package outbound.
package mail
