import { readFileSync } from 'node:fs'
import { Check } from 'typebox/schema'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { schemaTexts } from '../../../bin/config-schema.ts'
import { editorSchemas } from '../../../src/config/editor-schema.ts'

const isValid = (text: string): boolean => Check(editorSchemas().drawbridge, parse(text))
const MINIMAL = 'zones: { example.test: { primary: 192.168.45.253 } }\n'

test.each(Object.entries(schemaTexts()))(
  '%s is what the settings have: write it again with `npm run config-schema`',
  (file, text) => expect(readFileSync(file, 'utf8')).toBe(text),
)

test('an editor accepts the example file and the smallest file', () => {
  expect(isValid(readFileSync('drawbridge.example.yaml', 'utf8'))).toBe(true)
  expect(isValid(MINIMAL)).toBe(true)
  expect(Check(editorSchemas().edge, parse(readFileSync('edge.example.yaml', 'utf8')))).toBe(true)
})

const WRONG = ['flow: open', 'listen: { port: 70000 }', 'flwo: legacy', 'webhooks: { a: {} }'].map(
  (text) => MINIMAL + text,
)
test.each([...WRONG, 'zones: { a.test: {} }'])('an editor marks %j', (text) => expect(isValid(text)).toBe(false))
