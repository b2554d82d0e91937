import { expect, test } from 'vitest'
import { mergeRoots } from '../../../lab/ca-roots.ts'

const root = (body: string) => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`

test('a new root joins those that issued before', () =>
  expect(mergeRoots(root('one'), root('two'))).toBe(root('one') + root('two')))

test('a root that is known already is kept once', () =>
  expect(mergeRoots(root('one') + root('two'), root('one'))).toBe(root('one') + root('two')))

test('the first root needs no earlier file', () => expect(mergeRoots('', root('one').trimEnd())).toBe(root('one')))
