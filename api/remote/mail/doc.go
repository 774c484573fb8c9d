// Package mail sends mails through the SMTP server that the operator names. Every failure has a reason from a fixed
// set. A reason says whether the failure is about the mail or about the server, and whether a retry may help. Callers
// write the texts of the mails.
//
// The only other package of this module that it imports is outbound.
package mail
