// Writes drawbridge.schema.json and edge.schema.json from the schemas of the configurations. Run `npm run config-schema` after every
// change of a setting.
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { editorSchemas } from '../src/config/editor-schema.ts'

/** The text of each schema, by its file. */
export const schemaTexts = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(editorSchemas()).map(([name, schema]) => [
      join(resolve(import.meta.dirname, '..'), `${name}.schema.json`),
      `${JSON.stringify(schema, null, 2)}\n`,
    ]),
  )

if (import.meta.main) for (const [file, text] of Object.entries(schemaTexts())) writeFileSync(file, text)
