package main

import (
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/octavo-docs/octavo/api/jobs"
	"github.com/octavo-docs/octavo/api/orgs"
	"github.com/octavo-docs/octavo/api/remote/chat"
	"github.com/octavo-docs/octavo/api/remote/mail"
	"github.com/octavo-docs/octavo/api/remote/outbound"
	"github.com/octavo-docs/octavo/api/remote/provider"
	"github.com/octavo-docs/octavo/api/remote/refining"
	"github.com/octavo-docs/octavo/api/remote/revalidation"
	"github.com/octavo-docs/octavo/api/remote/translation"
)

// This file builds the clients of other hosts from the settings: hosts of users' addresses, front ends, the translator,
// the model for conversations, the mail server, and identity providers.

// validateOthers checks the settings of this file.
func (s *Settings) validateOthers() error {
	if _, err := s.outbound(); err != nil {
		return err
	}
	if _, err := s.frontEnds(); err != nil {
		return err
	}
	if _, err := s.translator(); err != nil {
		return err
	}
	if _, err := s.refiner(); err != nil {
		return err
	}
	if _, err := s.mailer(); err != nil {
		return err
	}
	if _, err := s.trustedOrigins(); err != nil {
		return err
	}
	_, err := s.sso()
	return err
}

// outbound returns the policy for hosts that users name.
func (s *Settings) outbound() (outbound.Policy, error) {
	policy, err := outbound.ParsePolicy(s.OutboundAllow)
	if err != nil {
		return policy, fmt.Errorf("OCTAVO_OUTBOUND_ALLOW: %w", err)
	}
	return policy, nil
}

// frontEnds returns the client of the configured front ends; nil without front ends. Octavo may send requests to the
// configured addresses, even in private networks.
func (s *Settings) frontEnds() (*revalidation.Client, error) {
	addresses, guard, err := openedByName("OCTAVO_FRONT_ENDS", s.FrontEnds)
	if err != nil || len(addresses) == 0 {
		return nil, err
	}
	return revalidation.New(revalidation.Config{Guard: guard, FrontEnds: addresses, Secret: s.FrontEndSecret}), nil
}

// openedByName reads the addresses of a setting. It also returns a guard that allows requests to the hosts of these
// addresses, because the operator trusts the hosts.
func openedByName(setting string, texts []string) ([]*url.URL, *outbound.Guard, error) {
	addresses, err := revalidation.ParseFrontEnds(texts)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", setting, err)
	}
	var hosts []string
	for _, address := range addresses {
		hosts = append(hosts, address.Hostname())
	}
	policy, err := outbound.ParsePolicy(hosts)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", setting, err)
	}
	return addresses, outbound.New(outbound.Config{Policy: policy}), nil
}

// translator returns the configured translation provider; nil if no provider is configured.
func (s *Settings) translator() (translation.Provider, error) {
	if s.Translator == "" {
		if s.TranslatorURL != "" || s.TranslatorKey != "" || s.TranslatorModel != "" {
			return nil, fmt.Errorf("OCTAVO_TRANSLATOR: is needed with the other settings of the translator")
		}
		return nil, nil
	}
	addresses, guard, err := openedByName("OCTAVO_TRANSLATOR_URL", []string{s.TranslatorURL})
	if err != nil {
		return nil, err
	}
	if len(addresses) == 0 {
		return nil, fmt.Errorf("OCTAVO_TRANSLATOR_URL: is needed with OCTAVO_TRANSLATOR")
	}
	cfg := provider.Config{Guard: guard, URL: addresses[0], Key: s.TranslatorKey, Name: "the translator"}
	if s.Translator == "libretranslate" {
		return translation.NewLibreTranslate(cfg), nil
	}
	if s.TranslatorModel == "" {
		return nil, fmt.Errorf("OCTAVO_TRANSLATOR_MODEL: is needed with OCTAVO_TRANSLATOR=chat")
	}
	return &translation.Model{Chat: chat.New(chat.Config{Provider: cfg, Model: s.TranslatorModel})}, nil
}

// refiner returns the refiner with the operator's language model; nil without a model. The model names clusters of
// conversations.
func (s *Settings) refiner() (jobs.Refiner, error) {
	if s.ConversationsURL == "" {
		if s.ConversationsKey != "" || s.ConversationsModel != "" {
			return nil, fmt.Errorf("OCTAVO_CONVERSATIONS_URL: is needed with the other settings of the model for conversations")
		}
		return nil, nil
	}
	addresses, guard, err := openedByName("OCTAVO_CONVERSATIONS_URL", []string{s.ConversationsURL})
	if err != nil {
		return nil, err
	}
	if s.ConversationsModel == "" {
		return nil, fmt.Errorf("OCTAVO_CONVERSATIONS_MODEL: is needed with OCTAVO_CONVERSATIONS_URL")
	}
	cfg := provider.Config{Guard: guard, URL: addresses[0], Key: s.ConversationsKey, Name: "the model for conversations"}
	return &refining.Model{Chat: chat.New(chat.Config{Provider: cfg, Model: s.ConversationsModel})}, nil
}

// mailer returns a sender that uses the configured mail server; nil without a server. Octavo may connect to the
// configured server, even in a private network.
func (s *Settings) mailer() (*mail.Sender, error) {
	if s.SMTPURL == "" {
		if s.MailFrom != "" || s.SMTPTLSCA != "" {
			return nil, fmt.Errorf("OCTAVO_MAIL_FROM and OCTAVO_SMTP_TLS_CA: only with OCTAVO_SMTP_URL")
		}
		return nil, nil
	}
	server, err := mail.ParseServer(s.SMTPURL)
	if err != nil {
		return nil, fmt.Errorf("OCTAVO_SMTP_URL: %w", err)
	}
	policy, err := outbound.ParsePolicy([]string{server.Host})
	if err != nil {
		return nil, fmt.Errorf("OCTAVO_SMTP_URL: %w", err)
	}
	cfg := mail.Config{Guard: outbound.New(outbound.Config{Policy: policy}), Server: server}
	if cfg.From, err = mail.ParseFrom(s.MailFrom); err != nil {
		return nil, fmt.Errorf("OCTAVO_MAIL_FROM: %w", err)
	}
	if s.SMTPTLSCA == "" {
		return mail.New(cfg), nil
	}
	if cfg.Authorities, err = authorities("OCTAVO_SMTP_TLS_CA", s.SMTPTLSCA); err != nil {
		return nil, err
	}
	return mail.New(cfg), nil
}

// authorities reads the certificates of the authorities in the file that a setting names.
func authorities(setting, path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: %s has no PEM certificate", setting, path)
	}
	return pool, nil
}

// checkOrigins returns an error if a text is not an origin. It refuses an origin with a path, because a path would
// suggest that pages of one host can be treated differently.
func checkOrigins(setting string, origins []string) error {
	for _, origin := range origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Scheme+"://"+u.Host != origin {
			return fmt.Errorf("%s: %q is not an origin such as https://app.example.com", setting, origin)
		}
	}
	return nil
}

// trustedOrigins returns the origins in the form that browsers send.
func (s *Settings) trustedOrigins() ([]string, error) {
	var list []string
	for _, origin := range s.TrustedOrigins {
		list = append(list, strings.ToLower(origin))
	}
	return list, checkOrigins("OCTAVO_TRUSTED_ORIGINS", list)
}

// sso returns the settings of single sign-on.
func (s *Settings) sso() (orgs.SSO, error) {
	if s.SSOSession <= 0 {
		return orgs.SSO{}, fmt.Errorf("OCTAVO_SSO_SESSION: must be above 0")
	}
	return orgs.SSO{SessionLength: s.SSOSession, ReturnTo: s.SSOReturnTo},
		checkOrigins("OCTAVO_SSO_RETURN_TO", s.SSOReturnTo)
}
