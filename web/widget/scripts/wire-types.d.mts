/** The text of src/schema.ts for an OpenAPI document. */
export function wireTypes(document: unknown): string;
