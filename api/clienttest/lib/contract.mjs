// This module has Contract, which finds the operation of a request and checks the answer.
import { createRequire } from 'node:module';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { discriminate, toJSONSchema } from './schema.mjs';
import * as seed from './seed.mjs';

const require = createRequire(import.meta.url);

/** Returns a copy of the OpenAPI document in the package of the published client. */
export const published = (name = '@gitbook/api') => structuredClone(require(`${name}/spec/openapi.json`));

const methods = ['get', 'put', 'post', 'delete', 'patch'];

// Any operation may answer with these statuses, although the document lists them for only a few operations. The body of
// such an answer must be the document's Error.
const refusals = new Set([400, 401, 403, 404, 409, 412, 413, 415, 429]);

export class Contract {
    #document;
    #members;
    #exceptions;
    #operations = [];
    #validators = new Map();
    #about = new Map();
    #changed = new Map();

    constructor(document = published(), { operations = seed.operations, members = seed.members, exceptions = seed.exceptions } = {}) {
        for (const [key, operation] of Object.entries(operations)) {
            const [method, path] = key.split(' ');
            const item = (document.paths[path] ??= {});
            if (item[method.toLowerCase()]) {
                throw new Error(`the document has ${key}: take it out of seed.mjs`);
            }
            item[method.toLowerCase()] = operation;
        }
        this.#document = document;
        this.#members = members;
        this.#exceptions = exceptions;
        for (const [path, item] of Object.entries(document.paths)) {
            for (const method of methods.filter((m) => item[m])) {
                this.#operations.push(describe(method.toUpperCase(), path, item[method]));
            }
        }
    }

    /**
     * Returns the operation of a request, or undefined. If several operations match, returns the operation with the
     * fewest parameters in its path.
     */
    match(method, pathname) {
        const path = pathname.replace(/^\/v1(?=\/)/, '');
        return this.#operations
            .filter((o) => o.method === method && o.pattern.test(path))
            .sort((a, b) => a.parameters - b.parameters)[0];
    }

    /**
     * Returns the faults of an answer as sentences. Also returns the names of the exceptions that the answer needs:
     * without them it would have more faults.
     */
    judge(operation, { status, headers, text }) {
        const problems = [];
        const response = this.#response(operation, status);
        if (status === 205) {
            problems.push('205: the seed knows 204 for every deletion');
        } else if (response === undefined && !refusals.has(status) && !(operation.method === 'DELETE' && status === 204)) {
            problems.push(`status ${status} is not documented: ${text.slice(0, 300)}`);
        }
        const schema = response || status === 204 ? response?.content?.['application/json']?.schema : { $ref: '#/components/schemas/Error' };
        if (status < 400 && schema === undefined) {
            if (text !== '') {
                problems.push(`${status} has no body, but ${text.length} bytes came`);
            }
            return { problems, exceptions: [] };
        }
        if (status === 201 && !headers.get('location') && this.#reads(operation)) {
            problems.push('201 needs a Location header');
        }
        if (!/^application\/json(;|$)/.test(headers.get('content-type') ?? '')) {
            problems.push(`Content-Type is ${headers.get('content-type')}`);
        }
        let body;
        try {
            body = JSON.parse(text);
        } catch (error) {
            problems.push(`the body is no JSON: ${error.message}: ${text.slice(0, 200)}`);
            return { problems, exceptions: [] };
        }
        if (status >= 400 && body?.error?.code !== status) {
            problems.push(`error.code is ${body?.error?.code}, the status ${status}`);
        }
        const verdict = this.validate(schema, body);
        return { problems: [...problems, ...listRules(schema, body), ...verdict.problems], exceptions: verdict.exceptions };
    }

    /**
     * Checks a value against a schema of the document (OpenAPI 3.0) after the exceptions have changed it. Also returns
     * the names of the exceptions that the value needs: without such an exception the value is invalid, even with all
     * other exceptions.
     */
    validate(schema, value) {
        const problems = this.#errors(schema, value, this.#exceptions);
        const about = this.#exceptionsAbout(schema);
        if (problems.length > 0 || about.length === 0 || this.#errors(schema, value, []).length === 0) {
            return { problems, exceptions: [] };
        }
        const failsWithout = (e) => this.#errors(schema, value, this.#exceptions.filter((x) => x !== e)).length > 0;
        const needed = about.filter(failsWithout);
        return { problems: [], exceptions: needed.map((e) => e.name) };
    }

    /**
     * Reports whether another operation reads the object that this operation creates. If no operation does, the object
     * has no address.
     */
    #reads(operation) {
        return Object.keys(this.#document.paths).some((path) => this.#document.paths[path].get &&
            path.startsWith(`${operation.path}/{`) && !path.slice(operation.path.length + 1).includes('/'));
    }

    #response(operation, status) {
        let response = operation.responses[status];
        if (response?.$ref) {
            response = this.#document.components.responses[response.$ref.split('/').pop()];
        }
        return response;
    }

    /** Returns the exceptions that change a schema, or a schema that it refers to. */
    #exceptionsAbout(schema) {
        let about = this.#about.get(schema);
        if (!about) {
            const reached = references(schema, this.#document.components.schemas, this.#members);
            about = this.#exceptions.filter((e) => this.#changes(e).some((name) => reached.has(name)));
            this.#about.set(schema, about);
        }
        return about;
    }

    /** Returns the names of the schemas that an exception changes. */
    #changes(exception) {
        let names = this.#changed.get(exception);
        if (!names) {
            const before = this.#document.components.schemas;
            const after = structuredClone(before);
            exception.patch(after);
            names = Object.keys(after).filter((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]));
            this.#changed.set(exception, names);
        }
        return names;
    }

    #errors(schema, value, exceptions) {
        const key = exceptions.map((e) => e.name).join(' ');
        let compiler = this.#validators.get(key);
        if (!compiler) {
            this.#validators.set(key, compiler = this.#compiler(exceptions));
        }
        const validate = compiler(schema);
        return validate(value) ? [] : explain(validate.errors, value);
    }

    // The returned function compiles a schema, with the schemas that it refers to, when the schema is first needed.
    #compiler(exceptions) {
        const schemas = structuredClone(this.#document.components.schemas);
        for (const { patch } of exceptions) {
            patch(schemas);
        }
        for (const { schema, properties, required = [] } of this.#members) {
            schemas[schema] = { allOf: [schemas[schema], { type: 'object', properties, required }] };
        }
        const ajv = new Ajv({
            strict: true, strictTypes: false, strictRequired: false,
            allErrors: true, verbose: true, discriminator: true,
            // Each schema checks only a few answers, so the time to optimize its code would be longer than the time
            // that this saves.
            code: { optimize: false },
        });
        addFormats(ajv, ['uri', 'int32', 'byte']);
        ajv.addFormat('date-time', isTimestamp);
        // The document uses these formats, but does not list the valid names.
        ajv.addFormat('emoji', true);
        ajv.addFormat('icon', true);
        const $defs = Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, toJSONSchema(schema)]));
        discriminate($defs);
        ajv.addSchema({ $id: 'document', $defs }, 'document');
        const compiled = new Map();
        return (schema) => {
            if (!compiled.has(schema)) {
                const text = JSON.stringify(toJSONSchema(schema)).replaceAll('"#/$defs/', '"document#/$defs/');
                compiled.set(schema, ajv.compile(JSON.parse(text)));
            }
            return compiled.get(schema);
        };
    }
}

// references returns the names of all schemas that a schema refers to, also through other schemas and through the
// seed's members.
function references(schema, schemas, members) {
    const reached = new Set();
    const visit = (value) => {
        if (value === null || typeof value !== 'object') {
            return;
        }
        const ref = typeof value.$ref === 'string' ? value.$ref : '';
        const name = ref.match(/^#\/components\/schemas\/([^/]+)/)?.[1];
        if (name !== undefined && !reached.has(name)) {
            reached.add(name);
            visit(schemas[name]);
            members.filter((m) => m.schema === name).forEach(visit);
        }
        Object.values(value).forEach(visit);
    };
    visit(schema);
    return reached;
}

function describe(method, path, operation) {
    const pattern = new RegExp('^' + path.replace(/[.]/g, '\\.').replace(/\{[^}]*\}/g, '[^/]+') + '$');
    return {
        id: operation.operationId, key: `${method} ${path}`, method, path, pattern,
        parameters: path.split('{').length, responses: operation.responses,
    };
}

/** Reports whether a text is a time in UTC in the format of RFC 3339, with a day and a time that exist. */
export function isTimestamp(text) {
    return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text) && !Number.isNaN(Date.parse(text))
        && new Date(text).toISOString().slice(0, 19) === text.slice(0, 19);
}

// listRules returns the faults of a list: its count must be at least the number of items, and next.page must not be
// empty.
function listRules(schema, body) {
    if (!schema.allOf?.some((s) => s.$ref === '#/components/schemas/List') || !Array.isArray(body?.items)) {
        return [];
    }
    const problems = [];
    if (!Number.isInteger(body.count) || body.count < body.items.length) {
        problems.push(`count is ${body.count}, with ${body.items.length} items on this page`);
    }
    if (body.next?.page === '') {
        problems.push('next.page is empty');
    }
    return problems;
}

// explain returns the validator's errors as sentences. If no alternative of a oneOf fits, the validator reports the
// errors of all alternatives. The deepest error is most likely the actual fault, so it comes first.
function explain(errors, value) {
    const combined = new Set(['oneOf', 'anyOf', 'allOf']);
    const depth = (e) => e.instancePath.split('/').length;
    const both = errors.filter((e) => e.keyword === 'oneOf' && e.params.passingSchemas)
        .map((e) => `${e.instancePath || 'the body'} is valid for two alternatives, ${e.params.passingSchemas.join(' and ')}`);
    const faults = errors.filter((e) => !combined.has(e.keyword)).sort((a, b) => depth(b) - depth(a)).map((e) => {
        const about = { additionalProperties: e.params.additionalProperty, enum: e.params.allowedValues?.join(', '), discriminator: e.params.tagValue }[e.keyword];
        return `${e.instancePath || 'the body'} ${e.message}${about ? ` (${about})` : ''}, is ${JSON.stringify(e.data)?.slice(0, 120)}`;
    });
    const lines = [...new Set([...both, ...faults])].slice(0, 8);
    return lines.length > 0 ? lines : [`is not valid: ${JSON.stringify(value).slice(0, 300)}`];
}
