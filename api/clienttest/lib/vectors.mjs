// This module replays the recorded requests of ../front-end/, which it sends as the front end does. It compares every
// answer with the published document of the front end's generation, with the members that the front end reads, and with
// the values that the case expects.
import { isDeepStrictEqual } from 'node:util';

/**
 * types has a check for each type of member. The keys are the names of the types in the cases. Some checks are stricter
 * than a JavaScript type, because the front end needs more.
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
    identifier: (v) => /^[A-Za-z_][\w-]*$/.test(v), // The front end uses it in CSS selectors.
    jwt: (v) => typeof v === 'string' && v.split('.').length === 3 && claims(v)?.kind === 'site' && claims(v).exp * 1000 > Date.now(),
};

/**
 * Returns the payload of a token. Like the front end, it does not verify the token. Returns undefined if the token
 * cannot be read.
 */
export function claims(token) {
    try {
        return JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
    } catch {
        return undefined;
    }
}

/**
 * Replaces every `{name}` in a template's texts by the value with this name. If a text is only `{name}`, the result is
 * the value itself, which may have any type. `{name?}` may have no value and is then left out.
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
 * Returns all values at a path such as `pages[].title`. A missing value is undefined. `[]` means every item of a list,
 * and `[0]` means the first item.
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
 * Returns the faults of an answer's members: members that are missing, and members of a wrong type. If the name of a
 * member ends in `?`, the member may be absent.
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
 * Returns the differences between an answer and the values that a case expects. If the case has no status, it expects
 * 200.
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

/** Returns the id of the page at a path. If the path is empty, returns the id of the first page. */
export function pageAt(pages, path) {
    const all = (list) => list.flatMap((p) => [...(p.type === 'document' ? [p] : []), ...all(p.pages ?? [])]);
    const documents = all(pages);
    return (path === '' ? documents[0] : documents.find((p) => p.path === path))?.id;
}

/** Returns the prefixes of an address that the front end resolves, in the order of its requests. */
export function candidates(address) {
    const { origin, pathname } = new URL(address);
    const names = pathname.split('/').filter(Boolean);
    const end = names.indexOf('~') > 0 && ['changes', 'revisions'].includes(names[names.indexOf('~') + 1]) ? names.indexOf('~') : names.length;
    return Array.from({ length: Math.min(end, 4) + 1 }, (_, n) => `${origin}/${names.slice(0, n).join('/')}`);
}

/** Replays cases as a generation of the front end. */
export class Replay {
    #calls;
    #generation;
    #contract;
    #server;
    #tokens;
    used = new Set(); // names of the exceptions without which answers would fail
    made = new Set(); // names of the calls that were sent

    /** contract checks the answers. tokens has a token for each `as` in the calls. */
    constructor({ calls, generation, contract, server, tokens }) {
        this.#calls = calls;
        this.#generation = generation;
        this.#contract = contract;
        this.#server = server;
        this.#tokens = tokens;
    }

    /**
     * Returns the call with this name, in the form for this generation. Returns undefined if this generation does not
     * send the call.
     */
    call(name) {
        if (!this.#calls[name]) {
            throw new Error(`no call is named ${name}`);
        }
        return [this.#calls[name]].flat().find((c) => !c.generations || c.generations.includes(this.#generation));
    }

    /**
     * Runs a step of a case and returns the faults of the answer. Adds data of the answer to `values` if later calls
     * need it.
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

    /** Returns the faults of an answer to a step. */
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

    // Sends a request for every prefix of an address. Returns the first complete answer that is not a redirect. If
    // there is no such answer, returns the answer for the longest prefix.
    async #open(call, step, values) {
        const answers = [];
        for (const url of candidates(values.url)) {
            answers.push(await this.#ask(call, step, { ...values, url }));
        }
        const found = answers.findIndex((a) => a.data?.complete && !a.data.redirect);
        const chosen = answers.at(found);
        if (found >= 0 && found < answers.length - 1) { // The rest of the path belongs to the page.
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
            // The contract reports the invalid JSON.
        }
        return { status: response.status, headers: response.headers, text, data, pathname: url.pathname };
    }
}

// renamed replaces placeholders in the names of members by values. An example of a name with a placeholder is
// `customizations.siteSpaces.{siteSpace}`.
const renamed = (read, values) => Object.fromEntries(Object.entries(read).map(([name, type]) => [fill(name, values), type]));
