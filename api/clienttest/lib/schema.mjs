// This module converts schemas of OpenAPI 3.0 to JSON Schema. It throws if a schema has a keyword that it does not
// know. So if a newer document has a new kind of rule, the tests fail and the rule is not overlooked.

// These keywords do not change which values are valid. A discriminator only says how to choose among the alternatives
// of a oneOf.
const annotations = new Set(['description', 'title', 'example', 'default', 'deprecated', 'discriminator', 'readOnly', 'writeOnly']);

const plain = new Set([
    'type', 'required', 'enum', 'format', 'maxLength', 'minLength', 'pattern', 'minimum', 'maximum',
    'minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties',
]);

/**
 * Returns a JSON Schema that accepts exactly the values that the OpenAPI 3.0 schema accepts. The reference
 * `#/components/schemas/X` becomes `#/$defs/X`.
 */
export function toJSONSchema(schema) {
    // In OpenAPI 3.0, the other members of an object with $ref are ignored.
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
    // nullable has an effect only if the schema has a type. An enum accepts null only if it lists null.
    if (schema.nullable && schema.type !== undefined) {
        out.type = [schema.type, 'null'];
    }
    return out;
}

/**
 * Adds a discriminator to every oneOf whose alternatives have different values in one of their members (`kind`,
 * `column`, …). The validator then checks only the alternative with the member's value, and reports only the faults of
 * that alternative. The same values are valid as before.
 */
export function discriminate($defs) {
    // A reference to a part of a schema is not resolved. For such a oneOf, the validator tries all alternatives.
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

// tag returns the name of a member that every alternative requires, and whose values are different in all alternatives.
function tag(alternatives) {
    const [first] = alternatives;
    return Object.keys(first.properties ?? {}).find((name) => {
        const words = alternatives.flatMap((a) => a.properties?.[name]?.enum ?? []);
        return new Set(words).size === words.length && words.every((w) => typeof w === 'string')
            && alternatives.every((a) => a.type === 'object' && a.required?.includes(name) && a.properties?.[name]?.enum);
    });
}
