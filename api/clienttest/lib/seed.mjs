// This module has the differences between the seed and the published client's OpenAPI document. The seed is the
// contract of this service: it adds to the document, and contradicts it in a few places. The schemas are OpenAPI 3.0,
// as in the document, and may refer to the document's components.

const ref = (name) => ({ $ref: `#/components/schemas/${name}` });
const impact = { type: 'string', enum: ['low', 'medium', 'high'] };

/**
 * The contract's operations that the document of 0.146.0 does not have. The keys are the method and the path. `via`
 * names the source that describes the operation.
 */
export const operations = {
    'PATCH /orgs/{organizationId}/conversations-clusters/{clusterId}': {
        operationId: 'updateConversationsIssuesCluster',
        via: 'seed, Endpoints, Conversations; in no published document',
        responses: { 200: { content: { 'application/json': { schema: ref('ConversationsIssuesCluster') } } } },
    },
    'POST /orgs': {
        operationId: 'createOrganization',
        via: 'the client of 0.202.0',
        responses: { 201: { content: { 'application/json': { schema: ref('Organization') } } } },
    },
    'POST /spaces/{spaceId}/change-requests/{changeRequestId}/content': {
        operationId: 'updateChangeRequestContent',
        via: 'the client of 0.202.0; with compat, its default, the answer is the change request',
        responses: { 200: { content: { 'application/json': { schema: ref('ChangeRequest') } } }, 404: { $ref: '#/components/responses/NotFoundError' } },
    },
};

/**
 * Members of resources that the seed describes and the document does not. If the member is present, it must have this
 * type. The members in `required` must be present.
 */
export const members = [
    {
        schema: 'ConversationsIssuesCluster', seed: 'Resources, Conversations issues cluster: muted required; impact one of three',
        properties: { muted: { type: 'boolean' }, impact }, required: ['muted', 'impact'],
    },
    {
        schema: 'ConversationIssue', seed: 'Resources, Conversation issue: details, impact',
        properties: { details: ref('JSONDocument'), impact }, required: ['details'],
    },
    { schema: 'Conversation', seed: 'Resources, Conversation: impact', properties: { impact } },
    { schema: 'JSONDocument', seed: 'Conventions, Rich document: meta.token', properties: { meta: { type: 'object', properties: { token: { type: 'string' } } } } },
    { schema: 'Space', seed: 'Resources, Space: internal_poweredByV2', properties: { internal_poweredByV2: { type: 'boolean' } } },
    { schema: 'SiteSpace', seed: 'Resources, Site space: hidden', properties: { hidden: { type: 'boolean' } } },
    {
        schema: 'Organization', seed: 'Resources, Integration: the embedded organization has permissions.access',
        properties: { permissions: { type: 'object', properties: { access: { type: 'boolean' } }, required: ['access'] } },
    },
    {
        schema: 'SiteCustomizationSettings', seed: 'Resources, Site customization settings: header.primaryLink, ai.suggestions',
        properties: {
            header: { type: 'object', properties: { primaryLink: ref('ContentRef') } },
            ai: { type: 'object', properties: { suggestions: { type: 'array', items: { type: 'string' } } } },
        },
    },
];

/**
 * Operations that cannot succeed in these scenarios, with the status that they must return. The status is in the
 * document. No space is ever synchronized, because the server does not call a Git repository.
 */
export const outcomes = { 'GET /spaces/{spaceId}/git/info': 404 };

/**
 * If the seed and the document contradict each other, the seed applies. Each exception changes the document's schemas
 * and has a reason. A run fails if no answer needs an exception (see ../coverage.mjs), so every exception in the list
 * is necessary. There is no exception where an answer can satisfy both sources. Every DELETE answers 204, which in the
 * document means "was not there", and never the document's 205. Clusters have 0 tasks. Issues have a summary and
 * details. If there is no bot, visitorBot is "".
 */
export const exceptions = [
    {
        name: 'cluster-summary',
        seed: 'Resources, Conversations issues cluster: `summary` (rich document)',
        reason: 'the document types summary as a string; no value is both',
        patch: (schemas) => { schemas.ConversationsIssuesCluster.properties.summary = ref('JSONDocument'); },
    },
    {
        name: 'page-without-body',
        seed: 'Resources, Space: content is read as pages, whose bodies are read one by one',
        reason: 'a document page is a RevisionPageBase and a Document, whose alternative without a body is a closed object without '
            + 'members: as published, no page of a list could leave its body out',
        patch: (schemas) => {
            schemas.RevisionPageDocument.allOf = schemas.RevisionPageDocument.allOf.map((s) => (
                s.$ref === ref('Document').$ref ? { properties: { markdown: { type: 'string' }, document: ref('JSONDocument') } } : s));
        },
    },
    {
        name: 'change-attributes',
        seed: 'Changes of revisions: what the published client reads',
        reason: 'the attributes of an edited page are oneOf those of a document, a group and a link, which share title, slug and emoji: '
            + 'as published, no page could have been renamed',
        patch: (schemas) => {
            const { attributes } = schemas.RevisionSemanticChangePageEdited.properties;
            schemas.RevisionSemanticChangePageEdited.properties.attributes = { anyOf: attributes.oneOf };
        },
    },
    {
        name: 'plain-object-type',
        seed: 'Endpoints, Site insights: visitor-segments answer `claims: map`',
        reason: 'PlainObject has no type, so that a string, number, boolean or array in it is valid for two alternatives of its oneOf '
            + 'and therefore for none: as published, no claim with a value could be answered',
        patch: (schemas) => { schemas.PlainObject.type = 'object'; },
    },
];
