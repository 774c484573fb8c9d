// This module converts schemas of OpenAPI 3.0 to JSON Schema. It refuses a keyword that the published document does not
// use now. So no rule of a newer document stays unchecked unnoticed.

// These keywords do not restrict the valid values. A discriminator only helps to choose among the alternatives of a
// oneOf.
const annotations = new Set(['description', 'title', 'example', 'default', 'deprecated', 'discriminator', 'readOnly', 'writeOnly']);

const plain = new Set([
    'type', 'required', 'enum', 'format', 'maxLength', 'minLength', 'pattern', 'minimum', 'maximum',
    'minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties',
]);

/**
 * Returns a JSON Schema that accepts exactly the values that the OpenAPI 3.0 schema accepts. `#/components/schemas/X`
 * becomes `#/$defs/X`.
 */
export function toJSONSchema(schema) {
    // OpenAPI 3.0 ignores the members next to $ref.
    if (schema.$ref !== undefined) {
        return { $ref: schema.$ref.replace('#/components/schemas/', '#/$defs/') };
    }
    const out = {};
    for (const [keyword, value] of Object.entries(schema)) {
        if (plain.has(keyword)) {
            out[keyword] = value;
        } else if (keyword === 'properties') {
            out.properties = Object.fromEntries(Object.entries(value).map(([name, s]) => [name, toJSONSchema(s)]));
        } else if (keyword === 'items' || keyword === 'propertyNames') {
            out[keyword] = toJSONSchema(value);
        } else if (keyword === 'oneOf' || keyword === 'anyOf' || keyword === 'allOf') {
            out[keyword] = value.map(toJSONSchema);
        } else if (keyword === 'additionalProperties') {
            out.additionalProperties = typeof value === 'boolean' ? value : toJSONSchema(value);
        } else if (keyword !== 'nullable' && !annotations.has(keyword) && !keyword.startsWith('x-')) {
            throw new Error(`the document uses the keyword ${keyword}, which is not checked`);
        }
    }
    // nullable only has a meaning next to a type; an enum must list null explicitly.
    if (schema.nullable && schema.type !== undefined) {
        out.type = [schema.type, 'null'];
    }
    return out;
}

/**
 * Adds a discriminator to every oneOf whose alternatives differ in the value of one member (`kind`, `column`, …). So
 * the validator checks only the alternative with the value, and reports only its faults. The same values stay valid.
 */
export function discriminate($defs) {
    // A reference to a part of a schema is not followed. The validator then tries all alternatives.
    const resolve = (schema) => (schema?.$ref ? resolve($defs[schema.$ref.replace('#/$defs/', '')]) : schema ?? {});
    const visit = (schema) => {
        for (const value of Object.values(schema)) {
            if (value !== null && typeof value === 'object') {
                visit(value);
            }
        }
        const propertyName = Array.isArray(schema.oneOf) && schema.type === undefined ? tag(schema.oneOf.map(resolve)) : undefined;
        if (propertyName) {
            Object.assign(schema, { type: 'object', required: [propertyName], discriminator: { propertyName } });
        }
    };
    visit($defs);
}

// tag returns the member that every alternative requires, with different words in each alternative.
function tag(alternatives) {
    const [first] = alternatives;
    return Object.keys(first.properties ?? {}).find((name) => {
        const words = alternatives.flatMap((a) => a.properties?.[name]?.enum ?? []);
        return new Set(words).size === words.length && words.every((w) => typeof w === 'string')
            && alternatives.every((a) => a.type === 'object' && a.required?.includes(name) && a.properties?.[name]?.enum);
    });
}
