// This module has the differences between our answers and the published document of each generation of the front end.
// The keys are the names of the client's packages. Each row changes the document's schemas and gives the reason. A
// replay fails if no answer needs a row. For 0.146.0, the exceptions of ../lib/seed.mjs also apply.
import { exceptions as ofEvery } from '../lib/seed.mjs';

const without = (schema, ...members) => { schema.required = schema.required.filter((name) => !members.includes(name)); };
const asIn0146 = (name) => ofEvery.find((e) => e.name === name);
const later = 'the contract is that of 0.146.0, which does not have the members; the front end renders without them';
const files = {
    name: 'openapi-filesystem',
    reason: 'readers get the list of files that the front end parses; all other callers get the object of the document',
    patch: ({ OpenAPISpecContent: { properties } }) => {
        properties.filesystem = { type: 'array', items: { type: 'object' } };
    },
};

const shown = {
    name: 'columns-and-updates',
    reason: 'columns are a block of 0.146.0 that no list of blocks names; later front ends show updates, this one none',
    patch: (schemas) => {
        const block = (type) => ({
            type: 'object', required: ['object', 'type', 'nodes', 'data'],
            properties: { object: { type: 'string', enum: ['block'] }, type: { type: 'string', enum: [type] } },
        });
        const columns = { $ref: '#/components/schemas/DocumentBlockColumns' };
        schemas.DocumentBlocksTopLevels.oneOf.push(columns, block('updates'));
    },
};

export const exceptions = {
    '@gitbook/api': [files, shown],
    '@gitbook/api-next': [
        asIn0146('page-without-body'),
        files,
        asIn0146('change-attributes'),
        { name: 'site-of-0.146', reason: later, patch: (schemas) => without(schemas.Site, 'appliedType', 'defaultLevel', 'permissions') },
        { name: 'site-preview', reason: later, patch: (schemas) => without(schemas.Site.properties.urls, 'preview') },
        { name: 'site-space-draft', reason: later, patch: (schemas) => without(schemas.SiteSpace, 'draft') },
        { name: 'section-draft', reason: later, patch: (schemas) => without(schemas.SiteSection, 'draft') },
        {
            name: 'redirect-of-0.146', reason: later,
            patch: (schemas) => without(schemas.SiteRedirect, 'captureWildcard', 'permanent', 'createdAt'),
        },
        {
            name: 'layout-of-0.146', reason: later,
            patch: (schemas) => without(schemas.RevisionPageLayoutOptions, 'coverMask', 'actions'),
        },
    ],
};
