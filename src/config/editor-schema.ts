import { type TObject, type TSchema, Type } from 'typebox'
import { configSchema } from './config.ts'
import { edgeAgentSchema } from './edge-agent.ts'

type JsonSchema = Readonly<Record<string, unknown>>

/** The JSON schemas of the configuration files, for completion and checks in editors. */
export const editorSchemas = (): Readonly<Record<'drawbridge' | 'edge', JsonSchema>> => ({
  drawbridge: titled('drawbridge.yaml', configSchema('.')),
  edge: titled('edge.yaml', edgeAgentSchema('.')),
})

const titled = (title: string, schema: TSchema): JsonSchema => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title,
  ...schemaOf(schema),
})

function schemaOf(schema: TSchema): JsonSchema {
  if (Type.IsObject(schema)) return objectOf(schema)
  if (Type.IsRecord(schema)) {
    const members = Object.values(schema.patternProperties)
    return { type: 'object', additionalProperties: members[0] ? schemaOf(members[0]) : true }
  }
  if (Type.IsArray(schema))
    return { type: 'array', items: schemaOf(schema.items), ...leastOf(schema), ...defaultOf(schema) }
  const { allowed, ...rules } = schema as JsonSchema
  return { ...rules, description: allowed }
}

/** A setting without a default is required. */
function objectOf({ properties }: TObject): JsonSchema {
  const members = Object.entries(properties)
  const required = members.filter(([, member]) => isRequired(member)).map(([key]) => key)
  return {
    type: 'object',
    properties: Object.fromEntries(members.map(([key, member]) => [key, schemaOf(member)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

function isRequired(schema: TSchema): boolean {
  if (Type.IsOptional(schema) || 'default' in schema) return false
  return !Type.IsObject(schema) || Object.values(schema.properties).some(isRequired)
}

const leastOf = (schema: TSchema): JsonSchema => ('minItems' in schema ? { minItems: schema.minItems } : {})
const defaultOf = (schema: TSchema): JsonSchema => ('default' in schema ? { default: schema.default } : {})
