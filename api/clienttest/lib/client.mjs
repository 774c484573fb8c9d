// This is the published client, and a function for plain requests. Every answer to either is checked against the
// contract and recorded. This includes refusals, and answers that a scenario does not read.
import { appendFileSync } from 'node:fs';
import { GitBookAPI } from '@gitbook/api';

/**
 * Witness checks the answers of one server against the contract. Notes go to a file, one line of JSON for each answer,
 * for the coverage of all scenarios together.
 */
export class Witness {
    #contract;
    #problems = [];
    #notes;

    constructor(contract, notes) {
        this.#contract = contract;
        this.#notes = notes;
    }

    /** What was wrong since the last call. */
    take() {
        return this.#problems.splice(0);
    }

    /** Returns a fetch that checks and records every answer. `via` names its user. */
    fetch(via) {
        return async (input, init) => {
            const response = await fetch(input, { ...init, redirect: 'manual' });
            const text = await response.clone().text();
            const method = init?.method ?? 'GET';
            const { pathname } = new URL(input);
            const operation = this.#contract.match(method, pathname);
            if (!operation) {
                this.#problems.push(`${method} ${pathname}: no operation of the contract`);
                return response;
            }
            const { problems, exceptions } = this.#contract.judge(operation, { status: response.status, headers: response.headers, text });
            const asked = init?.body ? ` to ${String(init.body).slice(0, 200)}` : '';
            this.#problems.push(...problems.map((p) => `${operation.id} (${method} ${pathname}) answered ${response.status}${asked}: ${p}`));
            if (this.#notes) {
                const note = { operation: operation.key, id: operation.id, via, status: response.status, valid: problems.length === 0, exceptions };
                appendFileSync(this.#notes, JSON.stringify(note) + '\n');
            }
            return response;
        };
    }
}

/** Returns the published client with the token of one user. */
export function connect(endpoint, token, witness) {
    return new GitBookAPI({ endpoint, authToken: token, serviceBinding: { fetch: witness.fetch('client') } });
}

/**
 * Returns a function that sends plain requests with a user's token, for operations that the client lacks. It returns
 * {status, headers, data} and never throws.
 */
export function direct(endpoint, token, witness) {
    const watched = witness.fetch('direct');
    return async (method, path, body, headers = {}) => {
        const response = await watched(path.startsWith('http') ? path : `${endpoint}/v1${path}`, {
            method,
            headers: {
                ...(token ? { authorization: `Bearer ${token}` } : {}), ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers,
            },
            body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
        });
        const text = await response.text();
        let data;
        try {
            data = text === '' ? undefined : JSON.parse(text);
        } catch {
            data = text; // the witness has reported it
        }
        return { status: response.status, headers: response.headers, data };
    };
}
