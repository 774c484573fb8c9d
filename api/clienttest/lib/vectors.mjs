// This module replays the recorded vectors of ../front-end/. It fills templates and sends requests like the front end.
// It checks every answer against the published document of its generation, the members that the front end reads, and
// the case.
import { isDeepStrictEqual } from 'node:util';

/**
 * types has a check for each type of member, by the type's name in the vectors. Some types require more than a type of
 * JavaScript, because the front end does.
 */
const types = {
    string: (v) => typeof v === 'string',
    number: (v) => typeof v === 'number',
    boolean: (v) => typeof v === 'boolean',
    array: Array.isArray,
    object: (v) => typeof v === 'object' && v !== null && !Array.isArray(v),
    url: (v) => typeof v === 'string' && URL.canParse(v),
    path: (v) => typeof v === 'string' && v.startsWith('/'),
    folder: (v) => typeof v === 'string' && v.startsWith('/') && v.endsWith('/'),
    identifier: (v) => /^[A-Za-z_][\w-]*$/.test(v), // an identifier of CSS: querySelector looks for it
    jwt: (v) => typeof v === 'string' && v.split('.').length === 3 && claims(v)?.kind === 'site' && claims(v).exp * 1000 > Date.now(),
};

/**
 * Returns the payload of a token like the front end, which does not verify it. Returns undefined if the token cannot be
 * read.
 */
export function claims(token) {
    try {
        return JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
    } catch {
        return undefined;
    }
}

/**
 * Replaces `{name}` in all texts of a template by the value. A text that is only `{name}` becomes the value, also if
 * the value is not a text. `{name?}` without a value is left out.
 */
export function fill(template, values) {
    if (Array.isArray(template)) {
        return template.map((t) => fill(t, values));
    }
    if (typeof template === 'object' && template !== null) {
        return Object.fromEntries(Object.entries(template).map(([name, t]) => [name, fill(t, values)]).filter(([, v]) => v !== undefined));
    }
    if (typeof template !== 'string') {
        return template;
    }
    const value = (name) => {
        const [path, optional] = name.endsWith('?') ? [name.slice(0, -1), true] : [name, false];
        const found = path.split('.').reduce((v, key) => v?.[key], values);
        if (found === undefined && !optional) {
            throw new Error(`nothing is called {${path}}`);
        }
        return found;
    };
    const whole = /^\{([\w.]+\??)\}$/.exec(template);
    return whole ? value(whole[1]) : template.replace(/\{([\w.]+\??)\}/g, (_, name) => value(name) ?? '');
}

/**
 * Returns all values at a path such as `pages[].title`. A missing value is undefined. `[]` stands for each item, and
 * `[0]` for the first.
 */
export function at(body, path) {
    return path.split('.').reduce((values, step) => {
        const [, name, index] = /^([^[]*)(?:\[(\d*)\])?$/.exec(step);
        const members = name === '' ? values : values.map((v) => v?.[name]);
        if (index === undefined) {
            return members;
        }
        return index === '' ? members.flatMap((m) => (Array.isArray(m) ? m : [undefined])) : members.map((m) => m?.[index]);
    }, [body]);
}

/**
 * Returns the faults of an answer's members: missing members, and members of another type. A member whose name ends in
 * `?` may be absent.
 */
export function members(body, expected) {
    return Object.entries(expected).flatMap(([name, type]) => {
        const optional = name.endsWith('?');
        const found = at(body, optional ? name.slice(0, -1) : name);
        if (!types[type]) {
            return [`${name}: there is no type ${type}`];
        }
        return found.filter((v) => (v === undefined ? !optional : !types[type](v))).slice(0, 1)
            .map((v) => `${name} is no ${type}: ${JSON.stringify(v)?.slice(0, 120) ?? 'absent'}`);
    });
}

/**
 * Returns the differences between an answer and the expectations of the case. Without a status, the case expects 200.
 */
export function outcome({ status = 200, values = {}, absent = [], headers = {}, kinds = [], contains = [], lacks = [] }, answer) {
    const list = (path, found) => (path.includes('[]') ? found : found[0]);
    return [
        ...(answer.status === status ? [] : [`the status is ${answer.status}, not ${status}: ${answer.text.slice(0, 200)}`]),
        ...Object.entries(values).filter(([path, value]) => !isDeepStrictEqual(list(path, at(answer.data, path)), value))
            .map(([path, value]) => `${path} is ${JSON.stringify(list(path, at(answer.data, path)))}, not ${JSON.stringify(value)}`),
        ...absent.filter((path) => at(answer.data, path).some((v) => v !== undefined)).map((path) => `${path} is there`),
        ...Object.entries(headers).filter(([name, value]) => answer.headers.get(name) !== value)
            .map(([name, value]) => `the header ${name} is ${answer.headers.get(name)}, not ${value}`),
        ...kinds.filter((kind) => !answer.text.includes(`"type":"${kind}"`)).map((kind) => `it has no ${kind}`),
        ...contains.filter((text) => !answer.text.includes(text)).map((text) => `it lacks ${text}: ${answer.text.slice(0, 300)}`),
        ...lacks.filter((text) => answer.text.includes(text)).map((text) => `it has ${text}`),
    ];
}

/** Returns the id of the page at a path. The empty path leads to the first page. */
export function pageAt(pages, path) {
    const all = (list) => list.flatMap((p) => [...(p.type === 'document' ? [p] : []), ...all(p.pages ?? [])]);
    const documents = all(pages);
    return (path === '' ? documents[0] : documents.find((p) => p.path === path))?.id;
}

/** Returns the prefixes of an address that the front end resolves, in its order. The last one is the whole address. */
export function candidates(address) {
    const { origin, pathname } = new URL(address);
    const names = pathname.split('/').filter(Boolean);
    const end = names.indexOf('~') > 0 && ['changes', 'revisions'].includes(names[names.indexOf('~') + 1]) ? names.indexOf('~') : names.length;
    return Array.from({ length: Math.min(end, 4) + 1 }, (_, n) => `${origin}/${names.slice(0, n).join('/')}`);
}

/** Replays vectors in one generation of the front end. */
export class Replay {
    #calls;
    #generation;
    #contract;
    #server;
    #tokens;
    used = new Set(); // names of the exceptions that answers needed
    made = new Set(); // names of the calls that were made

    /** contract checks answers. tokens has the tokens by the `as` of a call. */
    constructor({ calls, generation, contract, server, tokens }) {
        this.#calls = calls;
        this.#generation = generation;
        this.#contract = contract;
        this.#server = server;
        this.#tokens = tokens;
    }

    /**
     * Returns the call with this name, in this generation's form. Returns undefined if the generation has no such call.
     */
    call(name) {
        if (!this.#calls[name]) {
            throw new Error(`no call is named ${name}`);
        }
        return [this.#calls[name]].flat().find((c) => !c.generations || c.generations.includes(this.#generation));
    }

    /**
     * Runs a step of a case and returns the faults of the answer. Some later calls need data of the answer: this data
     * is added to `values`.
     */
    async step(step, values) {
        const call = this.call(step.call);
        if (!call || (step.generations && !step.generations.includes(this.#generation))) {
            return [];
        }
        Object.assign(values, fill(step.with ?? {}, values));
        const answer = step.prefixes ? await this.#open(call, step, values) : await this.#ask(call, step, values);
        this.made.add(step.call);
        const problems = this.judge(call, fill(step, values), answer, values);
        for (const [name, path] of answer.status < 300 ? Object.entries(call.keep ?? {}) : []) {
            values[name] = at(answer.data, path)[0];
        }
        if (answer.data?.pages && values.pathname) {
            values.page = pageAt(answer.data.pages, decodeURIComponent(values.pathname.slice(1)));
        }
        return problems;
    }

    /** Returns the faults of an answer. */
    judge(call, step, answer, values = {}) {
        const operation = this.#contract.match(call.method, answer.pathname);
        if (!operation) {
            return [`${call.method} ${answer.pathname} is no operation of the published document`];
        }
        const verdict = this.#contract.judge(operation, answer);
        verdict.exceptions.forEach((name) => this.used.add(name));
        const read = answer.status < 300 ? { ...call.members, ...step.members } : {};
        return [...verdict.problems, ...outcome(step, answer), ...members(answer.data, renamed(read, values))];
    }

    // Asks for all prefixes of an address. The first complete answer without a redirect counts. If there is none, the
    // answer for the longest prefix counts.
    async #open(call, step, values) {
        const answers = [];
        for (const url of candidates(values.url)) {
            answers.push(await this.#ask(call, step, { ...values, url }));
        }
        const found = answers.findIndex((a) => a.data?.complete && !a.data.redirect);
        const chosen = answers.at(found);
        if (found >= 0 && found < answers.length - 1) { // The end of the path belongs to the page.
            const rest = new URL(values.url).pathname.split('/').filter(Boolean).slice(found).join('/');
            chosen.data.pathname = `${chosen.data.pathname.replace(/\/$/, '')}/${rest}`;
        }
        return chosen;
    }

    async #ask(call, step, values) {
        const query = new URLSearchParams(fill(call.query ?? {}, values));
        const escaped = Object.fromEntries(Object.entries(values).map(([k, v]) => [k, typeof v === 'string' ? encodeURIComponent(v) : v]));
        const url = new URL(`${this.#server}/v1${fill(call.path, escaped)}${query.size > 0 ? `?${query}` : ''}`);
        const as = step.as ?? call.as;
        const token = as === 'site' ? values.token : this.#tokens[as];
        const body = call.body && JSON.stringify(fill(step.body ?? call.body, values));
        const response = await fetch(url, {
            method: call.method, body, redirect: 'manual',
            headers: {
                'user-agent': 'GitBook-Open/2.0.0', ...(token && { authorization: `Bearer ${token}` }), ...(body && { 'content-type': 'application/json' }),
            },
        });
        const text = await response.text();
        let data;
        try {
            data = text === '' ? undefined : JSON.parse(text);
        } catch {
            // The contract's checker reports the invalid JSON.
        }
        return { status: response.status, headers: response.headers, text, data, pathname: url.pathname };
    }
}

// renamed replaces placeholders in the names of members by values. An example of such a name is
// `customizations.siteSpaces.{siteSpace}`.
const renamed = (read, values) => Object.fromEntries(Object.entries(read).map(([name, type]) => [fill(name, values), type]));
