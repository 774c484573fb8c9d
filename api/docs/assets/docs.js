// This script searches, switches the language of examples, and sends requests from the page. Readers see all contents
// of the pages without the script, too.
const root = document.body.dataset.root;
const docs = document.body.dataset.docs;

const make = (name, members = {}, ...children) => {
    const element = Object.assign(document.createElement(name), members);
    element.append(...children);
    return element;
};

// The index of the search is fetched when the search field gets the focus.
const field = document.getElementById('find');
const list = document.getElementById('found');
const count = document.querySelector('.count');
let index;
let chosen = -1;
field.closest('.find').hidden = false;

/** load returns the index. After a failure, the next call fetches it again. */
const load = () =>
    (index ??= fetch(`${docs}/search.json`)
        .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(answer.statusText))))
        .catch((fault) => {
            index = undefined;
            throw fault;
        }));

/**
 * Returns the rank of an entry for the words: 0 if a word is missing. A word in a name counts more than in a path, and
 * in a path more than in a text.
 */
const fit = (entry, words) => {
    const route = (entry.route ?? '').toLowerCase();
    let sum = route !== '' && (route === words.join(' ') || route.split(' ')[1] === words[0]) ? 50 : 0;
    for (const word of words) {
        const title = entry.title.toLowerCase().indexOf(word);
        if (title >= 0) {
            sum += title === 0 ? 9 : 6;
        } else if (route.includes(word)) {
            sum += 4;
        } else if (entry.doc.toLowerCase().includes(word)) {
            sum += 1;
        } else {
            return 0;
        }
    }
    return sum + 1 / entry.title.length;
};

const choose = (at) => {
    chosen = at;
    for (const [i, item] of [...list.children].entries()) {
        item.ariaSelected = String(i === at);
        if (i === at) {
            field.setAttribute('aria-activedescendant', item.id);
            item.scrollIntoView({ block: 'nearest' });
        }
    }
};

const close = () => {
    list.hidden = true;
    field.ariaExpanded = 'false';
    field.removeAttribute('aria-activedescendant');
    chosen = -1;
};

const address = (entry) => (entry.to === '' ? docs : `${docs}/${entry.to}`);

const search = async () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) {
        close();
        return;
    }
    let nothing = 'Nothing found. “All operations” lists every path.';
    const all = await load().catch(() => {
        nothing = 'The search did not load. The next letter tries again.';
        return [];
    });
    const best = all
        .map((entry) => [fit(entry, words), entry])
        .filter(([points]) => points > 0)
        .sort(([a], [b]) => b - a)
        .slice(0, 12)
        .map(([, entry]) => entry);
    list.replaceChildren(
        ...best.map((entry, i) => {
            const item = make('li', { id: `found-${i}`, role: 'option' }, entry.title);
            item.append(make('small', {}, entry.route ?? entry.doc));
            item.dataset.to = address(entry);
            item.addEventListener('pointerdown', (event) => {
                event.preventDefault();
                go(item);
            });
            return item;
        }),
    );
    count.textContent = best.length === 0 ? nothing : `${best.length} found`;
    if (best.length === 0) {
        list.append(make('li', { className: 'none', role: 'option' }, nothing));
    }
    list.hidden = false;
    field.ariaExpanded = 'true';
    choose(best.length > 0 ? 0 : -1);
};

const go = (item) => {
    close();
    field.value = '';
    location.assign(item.dataset.to);
    const name = item.dataset.to.split('#')[1];
    document
        .getElementById(name ?? '')
        ?.querySelector('h2 a')
        .focus({ preventScroll: true });
};

field.addEventListener('focus', () => load().catch(() => {})); // The search itself shows the failure.
field.addEventListener('input', search);
field.addEventListener('blur', close);
field.addEventListener('keydown', (event) => {
    const last = list.querySelectorAll('[data-to]').length - 1;
    if (event.key === 'ArrowDown' && last >= 0) {
        choose(chosen >= last ? 0 : chosen + 1);
    } else if (event.key === 'ArrowUp' && last >= 0) {
        choose(chosen <= 0 ? last : chosen - 1);
    } else if (event.key === 'Enter' && chosen >= 0) {
        go(list.children[chosen]);
    } else if (event.key === 'Escape') {
        field.value = '';
        close();
        field.blur();
    } else {
        return;
    }
    event.preventDefault();
});
document.addEventListener('keydown', (event) => {
    const typing = event.target.closest?.('input:not([type="radio"]), textarea, select');
    if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        field.focus();
    }
});

// On a narrow screen, such as a phone, the menu is closed when the page opens.
const menu = document.querySelector('.menu');
const phone = matchMedia('(max-width: 52rem)');
const fold = () => (menu.open = !phone.matches);
fold();
phone.addEventListener('change', fold);

// The chosen language is stored, so that later pages use it, too.
const languages = [...document.querySelectorAll('.languages input')];
const remembered = () => {
    try {
        return localStorage.getItem('octavo-docs-language');
    } catch {
        return null; // The browser's storage is disabled for this page.
    }
};
languages.find((input) => input.id === remembered())?.click();
for (const input of languages) {
    input.addEventListener('change', () => {
        try {
            localStorage.setItem('octavo-docs-language', input.id);
        } catch {
            /* Without storage, the choice ends with the page. */
        }
    });
}

// The code below sends requests from the page.

/** The pasted token, which is only in the memory of this page. */
let token = '';

/** The headers that authenticate a request. No other function adds them. */
const authorization = () => (token === '' ? {} : { Authorization: `Bearer ${token}` });

/** Returns the body of the example's curl command. */
const exampleBody = (operation) => {
    const text = operation.querySelector('.in-curl code').textContent;
    return /-d '([\s\S]*)'$/.exec(text)?.[1].replaceAll(`'\\''`, `'`);
};

const labelled = (text, control) => make('label', {}, text, control);

const trial = (operation) => {
    const { method, path } = operation.dataset;
    const rows = [...operation.querySelectorAll('tr[data-in="path"], tr[data-in="query"]')];
    const inputs = rows.map((row) => ({
        ...row.dataset,
        input: make('input', { spellcheck: false, autocomplete: 'off' }),
    }));
    const body = exampleBody(operation);
    const text = body === undefined ? undefined : make('textarea', { value: body, spellcheck: false });
    const secret = make('input', { type: 'password', autocomplete: 'off', value: token });
    const output = make('output');
    const form = make('form', { className: 'trial' });
    form.ariaLabel = `Try ${operation.id}`;
    if ('token' in operation.dataset) {
        form.append(
            labelled('Token', secret),
            make('p', {}, 'The token stays in the memory of this page, and is sent to this server only.'),
        );
    }
    form.append(...inputs.map(({ name, input, in: place }) => labelled(`${name} (${place})`, input)));
    if (text) {
        form.append(labelled('Body', text));
    }
    form.append(make('button', { type: 'submit' }, `Send ${method}`), output);
    form.addEventListener('submit', async (event) => {
        event.preventDefault();
        token = secret.value.trim();
        output.replaceChildren('Sending …');
        output.replaceChildren(...(await send(method, path, inputs, text?.value, exampleMedia(operation))));
    });
    return form;
};

const exampleMedia = (operation) =>
    operation.querySelector('.in-curl code').textContent.includes('Content-Type: application/json')
        ? 'application/json'
        : 'application/x-www-form-urlencoded';

const send = async (method, path, inputs, body, media) => {
    const query = new URLSearchParams();
    for (const { name, input, in: place } of inputs) {
        if (place === 'path') {
            path = path.replace(`{${name}}`, encodeURIComponent(input.value));
        } else if (input.value !== '') {
            query.set(name, input.value);
        }
    }
    const headers = authorization();
    if (body !== undefined) {
        headers['Content-Type'] = media;
    }
    try {
        const begin = performance.now();
        const answer = await fetch(`${root}${path}${query.size > 0 ? `?${query}` : ''}`, {
            method,
            headers,
            body,
            credentials: 'omit',
        });
        const text = await answer.text();
        const took = Math.round(performance.now() - begin);
        const shown = [make('p', {}, `${answer.status} ${answer.statusText}, ${took} ms`)];
        if (text !== '') {
            shown.push(make('pre', { tabIndex: 0 }, readable(text)));
        }
        return shown;
    } catch {
        return [make('p', {}, 'No answer: the server does not reply, or the browser refuses the request.')];
    }
};

const readable = (text) => {
    try {
        return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
        return text;
    }
};

for (const operation of document.querySelectorAll('.operation')) {
    const button = operation.querySelector('.try');
    button.hidden = false;
    button.addEventListener('click', () => {
        const form = trial(operation);
        button.replaceWith(form);
        form.querySelector('input, textarea, button').focus();
    });
}
