package chat

import (
	"context"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/api/remote/provider"
)

// Path is the path of the endpoint for completions, relative to the address of the provider.
const Path = "chat/completions"

// Config names the provider and the model. The URL of Provider is the part of the address before Path, for example
// https://models.example.com/v1.
type Config struct {
	Provider provider.Config
	Model    string
}

// Client sends requests to a model. It may be used by many goroutines concurrently.
type Client struct {
	provider *provider.Client
	model    string
}

// New returns a Client. It opens no connection.
func New(cfg Config) *Client { return &Client{provider: provider.New(cfg.Provider), model: cfg.Model} }

// These are the roles of messages.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
)

// Message is one message of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Request is a request to a model.
type Request struct {
	Messages []Message
	// MaxTokens bounds the length of the answer. If it is 0, the limit of the model applies. If the answer is longer,
	// Ask returns an error with the reason provider.Cut.
	MaxTokens int
}

// These are the JSON documents of the interface, with only the members that this package uses.
type (
	completionRequest struct {
		Model          string          `json:"model"`
		Messages       []Message       `json:"messages"`
		MaxTokens      int             `json:"max_tokens,omitzero"`
		Temperature    int             `json:"temperature"`
		ResponseFormat *responseFormat `json:"response_format,omitzero"`
	}
	responseFormat struct {
		Type string `json:"type"`
	}
	completion struct {
		Choices []struct {
			FinishReason string `json:"finish_reason"`
			Message      struct {
				Content string `json:"content"`
				Refusal string `json:"refusal"`
			} `json:"message"`
		} `json:"choices"`
	}
)

// Ask returns the text of the model's answer. Its errors are of type *provider.Error.
func (c *Client) Ask(ctx context.Context, r Request) (string, error) { return c.ask(ctx, r, nil) }

// AskJSON requests one JSON object and decodes it into `answer`. `check` returns the problem of the decoded value. It
// may be nil. If the answer is not a JSON object, or `check` returns a problem, the error has the reason
// provider.Malformed. A retry may then help.
//
// The messages must demand JSON and must describe its form, because some servers require this.
func (c *Client) AskJSON(ctx context.Context, r Request, answer any, check func() error) error {
	text, err := c.ask(ctx, r, &responseFormat{Type: "json_object"})
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(unfenced(text)), answer); err != nil {
		return c.provider.Fail(provider.Malformed, "the answer is not the JSON that was asked for: %w", err)
	}
	if check != nil {
		if err := check(); err != nil {
			return c.provider.Fail(provider.Malformed, "the answer is wrong: %w", err)
		}
	}
	return nil
}

func (c *Client) ask(ctx context.Context, r Request, format *responseFormat) (string, error) {
	var answer completion
	err := c.provider.Post(ctx, Path, completionRequest{
		Model: c.model, Messages: r.Messages, MaxTokens: r.MaxTokens, ResponseFormat: format,
	}, &answer)
	if err != nil {
		if e, ok := errors.AsType[*provider.Error](err); ok {
			return "", e
		}
		return "", c.provider.Fail(provider.Rejected, "%w", err)
	}
	if len(answer.Choices) == 0 {
		return "", c.provider.Fail(provider.Malformed, "the answer has no choice")
	}
	choice := answer.Choices[0]
	switch {
	case choice.FinishReason == "content_filter" || choice.Message.Refusal != "":
		return "", c.provider.Fail(provider.Refused, "finish reason %q", choice.FinishReason)
	case choice.FinishReason == "length":
		return "", c.provider.Fail(provider.Cut, "after %d bytes", len(choice.Message.Content))
	case strings.TrimSpace(choice.Message.Content) == "":
		return "", c.provider.Fail(provider.Malformed, "the answer is empty, with finish reason %q", choice.FinishReason)
	}
	return choice.Message.Content, nil
}

// unfenced removes a Markdown fence around JSON. Models often write such a fence although their instructions forbid it.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "```"); ok {
		if _, rest, ok := strings.Cut(inner, "\n"); ok {
			text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "```"))
		}
	}
	return text
}
