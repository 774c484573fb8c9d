package main

import (
	"context"
	"fmt"
	"net"

	"github.com/bytedance/sonic"
	"github.com/valyala/fasthttp"
)

// bareCmd runs the bare server, which is the ceiling for the intake. The server's fasthttp handler decodes the same
// body into a plain struct, stores nothing, and answers 204.
type bareCmd struct {
	Listen string `default:"127.0.0.1:0"`
}

// plainBatch is a request as a struct that is fast to decode. Decoding does not validate values, decodes null as "",
// and does not decode free-form objects. A rare member costs time only in an event that has it.
type plainBatch struct {
	Events []plainEvent `json:"events"`
}

type plainEvent struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	Session   struct {
		VisitorID         string                 `json:"visitorId"`
		SessionID         string                 `json:"sessionId"`
		Cookies           sonic.NoCopyRawMessage `json:"cookies"`
		IP                string                 `json:"ip"`
		UserAgent         string                 `json:"userAgent"`
		Language          string                 `json:"language"`
		Referrer          string                 `json:"referrer"`
		VisitorAuthClaims sonic.NoCopyRawMessage `json:"visitorAuthClaims"`
	} `json:"session"`
	Location struct {
		URL            string `json:"url"`
		DisplayContext string `json:"displayContext"`
		SiteSection    string `json:"siteSection"`
		SiteSpace      string `json:"siteSpace"`
		SiteShareKey   string `json:"siteShareKey"`
		Space          string `json:"space"`
		Revision       string `json:"revision"`
		Page           string `json:"page"`
	} `json:"location"`
	Query    string `json:"query"`
	Feedback *struct {
		Rating  string `json:"rating"`
		Comment string `json:"comment"`
	} `json:"feedback"`
	Result     sonic.NoCopyRawMessage `json:"result"`
	Rating     int                    `json:"rating"`
	ResponseID string                 `json:"responseId"`
	Link       *struct {
		Target   sonic.NoCopyRawMessage `json:"target"`
		Position string                 `json:"position"`
	} `json:"link"`
	Operation *struct {
		Path   string `json:"path"`
		Method string `json:"method"`
	} `json:"operation"`
	Ad *struct {
		Domain    string `json:"domain"`
		ZoneID    string `json:"zoneId"`
		Placement string `json:"placement"`
	} `json:"ad"`
	Placement      string `json:"placement"`
	MarkdownSource string `json:"markdownSource"`
	LLMSVariant    string `json:"llmsVariant"`
}

// decodePlain decodes a body into a plainBatch. The bare server does nothing else with a body. Rows that measure
// decoding also call it.
func decodePlain(body []byte) (int, error) {
	var batch plainBatch
	err := sonic.Unmarshal(body, &batch)
	return len(batch.Events), err
}

func bareHandler(ctx *fasthttp.RequestCtx) {
	if n, err := decodePlain(ctx.PostBody()); err != nil || n == 0 {
		ctx.SetStatusCode(fasthttp.StatusBadRequest)
		return
	}
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}

// Run serves requests until SIGTERM or SIGINT.
func (c *bareCmd) Run() error {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp4", c.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	fmt.Println(listener.Addr())
	server := fasthttp.Server{Handler: bareHandler, NoDefaultServerHeader: true}
	untilSignalled(func() { _ = server.Shutdown() })
	return server.Serve(listener)
}
