// Where answers differ from what the published document of a generation says, by the client's package: a change of its schemas, with
// the reason. A replay in which no answer needs one fails. Those of 0.146.0 are the ones that every answer has: ../lib/seed.mjs.
import { exceptions as ofEvery } from '../lib/seed.mjs';

const without = (schema, ...members) => { schema.required = schema.required.filter((name) => !members.includes(name)); };
const asIn0146 = (name) => ofEvery.find((e) => e.name === name);
const later = 'the contract is that of 0.146.0, which does not have the members; the front end renders without them';

export const exceptions = {
    '@gitbook/api-next': [
        asIn0146('page-without-body'),
        asIn0146('openapi-filesystem'),
        asIn0146('change-attributes'),
        { name: 'site-of-0.146', reason: later, patch: (schemas) => without(schemas.Site, 'appliedType', 'defaultLevel', 'permissions') },
        { name: 'site-preview', reason: later, patch: (schemas) => without(schemas.Site.properties.urls, 'preview') },
        { name: 'site-space-draft', reason: later, patch: (schemas) => without(schemas.SiteSpace, 'draft') },
        { name: 'section-draft', reason: later, patch: (schemas) => without(schemas.SiteSection, 'draft') },
        {
            name: 'page-tags', reason: later,
            patch: (schemas) => schemas.RevisionPageDocument.allOf.filter((s) => s.required).forEach((s) => without(s, 'tags')),
        },
        { name: 'redirect-of-0.146', reason: later, patch: (schemas) => without(schemas.SiteRedirect, 'draft', 'captureWildcard', 'permanent', 'createdAt') },
        { name: 'layout-of-0.146', reason: later, patch: (schemas) => without(schemas.RevisionPageLayoutOptions, 'coverMask', 'tags', 'actions') },
    ],
};
