package apitest

import (
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/storetest"
)

func conversationsExamples() {
	const conversation = `{"id":"ticket-1","subject":"Login","parts":[{"type":"message","role":"user","body":"I cannot log in."}]}`
	make := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		h.T.Helper()
		org := "/v1/orgs/" + tenant.Organization.ID
		token := tenant.Tokens[schema.RoleAdmin]
		if a := h.Do("POST", org+"/conversations", token, conversation); a.Status != 204 {
			h.T.Fatalf("ingest: %d %s", a.Status, a.Body)
		}
		h.RunJobs()
		var issues schema.List[schema.IssueInConversation]
		if err := json.Unmarshal(h.Do("GET", org+"/conversations-issues?limit=1", token, nil).Body, &issues); err != nil {
			h.T.Fatal(err)
		}
		issue := issues.Items[0].Issue
		return map[string]string{"conversationId": issue.Conversation, "issueId": issue.ID, "clusterId": issue.Cluster}
	}
	Examples["ingestConversation"] = example{body: conversation}
	Examples["updateConversationsIssuesCluster"] = example{body: `{"muted":true}`, Make: make}
	for _, id := range []string{"getConversationById", "getConversationIssueById", "getConversationsIssuesCluster", "listConversationsIssuesClusterHistory"} {
		Examples[id] = example{Make: make}
	}
}

func integrationsExamples() {
	fresh := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		name := "i-" + schema.NewID()
		body := PublishBody(tenant.Organization.ID)
		body["icon"], body["visibility"] = PNG, "public"
		a := h.Do("POST", "/v1/integrations/"+name, tenant.Tokens[schema.RoleAdmin], body)
		var made schema.Integration
		if err := json.Unmarshal(a.Body, &made); err != nil || a.Status != 200 {
			h.T.Fatalf("%d %s", a.Status, a.Body)
		}
		return map[string]string{"integrationName": name, "assetId": made.URLs.Icon[strings.LastIndexByte(made.URLs.Icon, '/')+1:]}
	}
	Examples["publishIntegration"] = example{
		body: `{"title":"Linear","description":"Issues.","script":"export {}","organization":"{organizationId}"}`,
		Make: func(*Harness, *storetest.Tenant) map[string]string {
			return map[string]string{"integrationName": "i-" + schema.NewID()}
		},
	}
	Examples["getIntegrationByName"] = example{Make: fresh}
	Examples["getIntegrationAsset"] = example{Make: fresh}
	Examples["installIntegration"] = example{body: `{"organization":"{organizationId}"}`, Make: fresh}
	Examples["getIntegrationInstallationById"] = example{Needs: access.RightAccess, Make: func(h *Harness, tenant *storetest.Tenant) map[string]string {
		values := fresh(h, tenant)
		a := h.Do("POST", "/v1/integrations/"+values["integrationName"]+"/installations", tenant.Tokens[schema.RoleAdmin],
			map[string]string{"organization": tenant.Organization.ID})
		var made schema.IntegrationInstallation
		if err := json.Unmarshal(a.Body, &made); err != nil || a.Status != 201 {
			h.T.Fatalf("%d %s", a.Status, a.Body)
		}
		values["installationId"] = made.ID
		return values
	}}
}

func specExamples() {
	fresh := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		slug := "s-" + schema.NewID()
		body := SpecBody(SpecText)
		body["slug"] = slug
		a := h.Do("POST", "/v1/orgs/"+tenant.Organization.ID+"/openapi", tenant.Tokens[schema.RoleAdmin], body)
		var made schema.OpenAPISpec
		if err := json.Unmarshal(a.Body, &made); err != nil || a.Status != 201 {
			h.T.Fatalf("%d %s", a.Status, a.Body)
		}
		return map[string]string{"specSlug": slug, "versionId": made.LastVersion}
	}
	// Readers of a site read the specifications that its pages show.
	shown := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		values := fresh(h, tenant)
		request, _ := h.writePage(tenant, schema.Node{Object: schema.ObjectBlock, Type: "openapi-operation", IsVoid: new(true), Data: schema.Data{
			"ref": map[string]any{"kind": "openapi", "spec": values["specSlug"]}, "path": "/", "method": "get",
		}})
		h.merge(tenant, request)
		return values
	}
	text, _ := json.Marshal(SpecText)
	Examples["createOpenAPISpec"] = example{body: `{"slug":"{slug}","source":{"text":` + string(text) + `}}`,
		Make: func(*Harness, *storetest.Tenant) map[string]string {
			return map[string]string{"slug": "s-" + schema.NewID()}
		}}
	Examples["createOrUpdateOpenAPISpecBySlug"] = example{body: `{"source":{"text":` + string(text) + `}}`, Make: fresh}
	for _, id := range []string{
		"getOpenAPISpecBySlug", "listOpenAPISpecVersions", "getLatestOpenAPISpecVersion",
		"getOpenAPISpecVersionById", "getOpenAPISpecVersionContentById",
	} {
		Examples[id] = example{Make: fresh}
	}
	Examples["getLatestOpenAPISpecVersionContent"] = example{Make: shown}
}
