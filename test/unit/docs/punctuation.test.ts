import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkout } from '../../../lab/checkout.ts'
import { doubledIn } from '../../support/punctuation.ts'

const sources = ['src', 'lab'].flatMap((folder) =>
  readdirSync(join(checkout(), folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
)

/** The text of an error in a template, directly before punctuation. An error is a sentence of its own, with its full stop. */
const COMPOSED =
  /\$\{(?!clauseOf\()[^{}]*(?:\b(?:error|failure|cause)\.message\b|\breasonOf\(error\)|\bString\(error\))[^{}]*\}[.:;,]/g

/** Errors whose texts are clauses by their contract. */
const CLAUSES: Readonly<Record<string, string>> = {
  'src/certificates/acme/client.ts': 'reasonOf of problem.ts resolves to a clause',
  'src/certificates/acme/job.ts': 'InvalidPair tells what is wrong with the file',
  'src/estate/reading/main-file.ts': 'UnreadableText tells what is wrong with the text',
}

test('the text of an error that stands before punctuation goes without its full stop', () => {
  const found = sources.flatMap((file) =>
    [...readFileSync(join(checkout(), file), 'utf8').matchAll(COMPOSED)].map(([text]) => `${file}: ${text}`),
  )
  expect(found.filter((line) => CLAUSES[line.split(': ')[0] ?? ''] === undefined)).toEqual([])
})

test('no text of the service, the documents or a recorded answer has two marks in a row', () => {
  const kept = readdirSync(join(checkout(), 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.snap'))
    .map((name) => join('test', name))
  const documents = readdirSync(join(checkout(), 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:md|json)$/.test(name))
    .map((name) => join('docs', name))
  const found = [...kept, ...documents].flatMap((file) =>
    doubledIn(readFileSync(join(checkout(), file), 'utf8')).map((text) => `${file}: ${text}`),
  )
  expect(found).toEqual([])
})

const DOUBLED = ['Free space there.: ENOSPC', 'It failed.. Try again.', 'It failed., then', 'the host;.']
test.each(DOUBLED)('such marks are found: %s', (text) => expect(doubledIn(text)).not.toEqual([]))
