package apitest

import (
	"strings"

	"github.com/go-json-experiment/json"

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
	own := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		return h.Installed(tenant, "i-"+schema.NewID())
	}
	Examples["setIntegrationDevelopmentMode"] = example{body: `{"tunnelUrl":"https://tunnel.example.com"}`, Make: own}
	Examples["updateIntegrationInstallation"] = example{body: `{"externalIds":["a"]}`, Make: own}
	Examples["installIntegrationOnSpace"] = example{body: `{"space":"{spaceId}"}`, Make: own}
	Examples["installIntegrationOnSite"] = example{body: `{"siteId":"{siteId}"}`, Make: own}
	on := func(where, body string) func(h *Harness, tenant *storetest.Tenant) map[string]string {
		return func(h *Harness, tenant *storetest.Tenant) map[string]string {
			values := own(h, tenant)
			path := "/v1/integrations/" + values["integrationName"] + "/installations/" + values["installationId"] + where
			h.Want(201, "POST", path, tenant.Tokens[schema.RoleAdmin], strings.NewReplacer("{space}", tenant.Space.ID, "{site}", tenant.Site.ID).Replace(body))
			return values
		}
	}
	onSpace, onSite := on("/spaces", `{"space":"{space}"}`), on("/sites", `{"siteId":"{site}"}`)
	Examples["getIntegrationSpaceInstallation"], Examples["getIntegrationSiteInstallation"] = example{Make: onSpace}, example{Make: onSite}
	Examples["updateIntegrationSpaceInstallation"] = example{body: `{"externalIds":["a"]}`, Make: onSpace}
	Examples["updateIntegrationSiteInstallation"] = example{body: `{"externalIds":["a"]}`, Make: onSite}
	for _, id := range []string{
		"unpublishIntegration", "listIntegrationAssets", "listIntegrationInstallations", "getIntegrationInstallationById", "uninstallIntegration",
		"createIntegrationInstallationToken", "getOrganizationIntegrationStatus", "listIntegrationInstallationSpaces", "uninstallIntegrationFromSpace",
		"listIntegrationInstallationSites", "uninstallIntegrationFromSite", "listIntegrationVersions", "getIntegrationVersion", "listIntegrationEvents", "getIntegrationEvent",
		"disableIntegrationDevelopmentMode", "getIntegrationPublicEndpoint", "getInstallationPublicEndpoint",
	} {
		Examples[id] = example{Make: own}
	}
}

// Installed publishes a private integration with some scopes and installs it in the tenant's organization. It returns
// the integration's name and the ids of the installation and of its event. The keys are the names of the path
// parameters.
func (h *Harness) Installed(tenant *storetest.Tenant, name string, scopes ...string) map[string]string {
	h.T.Helper()
	body := PublishBody(tenant.Organization.ID)
	body["scopes"] = append([]string{}, scopes...)
	admin := tenant.Tokens[schema.RoleAdmin]
	h.Want(200, "POST", "/v1/integrations/"+name, admin, body)
	made := h.Want(201, "POST", "/v1/integrations/"+name+"/installations", admin, map[string]string{"organization": tenant.Organization.ID})
	events := h.Want(200, "GET", "/v1/integrations/"+name+"/events?limit=1", admin, nil)
	return map[string]string{
		"integrationName": name, "installationId": made["id"].(string), "eventId": events["items"].([]any)[0].(map[string]any)["id"].(string),
		"version": "1",
	}
}

// InstallationToken creates a token of an installation.
func (h *Harness) InstallationToken(tenant *storetest.Tenant, installed map[string]string) string {
	h.T.Helper()
	path := "/v1/integrations/" + installed["integrationName"] + "/installations/" + installed["installationId"] + "/tokens"
	return h.Want(200, "POST", path, tenant.Tokens[schema.RoleAdmin], nil)["token"].(string)
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
	// shown also writes a page that shows the specification, so that readers of the site may read it.
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
	newer, _ := json.Marshal(SpecText + "x-newer: true\n")
	Examples["createOrUpdateOpenAPISpecBySlug"] = example{body: `{"source":{"text":` + string(newer) + `}}`, Make: fresh}
	Examples["updateOpenAPISpecBySlug"] = example{body: `{"visibility":"public"}`, Make: fresh}
	Examples["getPublishedOpenAPISpec"] = example{Make: func(h *Harness, tenant *storetest.Tenant) map[string]string {
		values := fresh(h, tenant)
		h.Want(200, "PATCH", "/v1/orgs/"+tenant.Organization.ID+"/openapi/"+values["specSlug"], tenant.Tokens[schema.RoleAdmin], `{"visibility":"public"}`)
		return values
	}}
	for _, id := range []string{
		"getOpenAPISpecBySlug", "deleteOpenAPISpecBySlug", "listOpenAPISpecVersions", "getLatestOpenAPISpecVersion",
		"getOpenAPISpecVersionById", "getOpenAPISpecVersionContentById",
	} {
		Examples[id] = example{Make: fresh}
	}
	Examples["getLatestOpenAPISpecVersionContent"] = example{Make: shown}
}
