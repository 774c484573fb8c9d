package chat

import (
	"context"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/api/remote/provider"
)

// Path is the path of completions below the address of the provider.
const Path = "chat/completions"

// Config names the provider and the model. The URL of Provider is the address before Path, such as
// https://models.example.com/v1.
type Config struct {
	Provider provider.Config
	Model    string
}

// Client sends requests to a model. Many goroutines may use it at a time.
type Client struct {
	provider *provider.Client
	model    string
}

// New builds a Client and opens nothing.
func New(cfg Config) *Client { return &Client{provider: provider.New(cfg.Provider), model: cfg.Model} }

// The roles of messages.
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
	// MaxTokens bounds the answer; 0 means the model's bound. A longer answer is an error with the reason provider.Cut.
	MaxTokens int
}

// These are the interface's documents, with only the members that this package uses.
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

// AskJSON requests one JSON object and decodes it into answer. check, which may be nil, returns the problem of the
// decoded value. Any other answer, or a value with a problem, is an error with the reason provider.Malformed. A retry
// may then help.
//
// The messages must demand JSON and describe its form, because some servers insist on this.
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

// unfenced removes a Markdown fence, which models often put around JSON against their instructions.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "```"); ok {
		if _, rest, ok := strings.Cut(inner, "\n"); ok {
			text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "```"))
		}
	}
	return text
}
