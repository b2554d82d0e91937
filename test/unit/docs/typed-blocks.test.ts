import { expect, test } from 'vitest'
import {
  IN_THE_LAB,
  ON_ONE_MACHINE,
  ON_THREE_MACHINES,
  PAGE_OF_OPERATIONS,
} from '../../support/machine/typed-blocks.ts'
import { blocksOf } from '../../support/network/page-commands.ts'

test('each block of commands of docs/operations.md is typed on booted machines, or the reason is told why not', () => {
  const sections: readonly string[] = ON_THREE_MACHINES
  const names = blocksOf(PAGE_OF_OPERATIONS).map(({ section, heading }) =>
    sections.includes(section) ? section : heading,
  )
  expect(names).toContain('Backup')
  expect([...new Set(names)].toSorted()).toEqual(
    [...ON_ONE_MACHINE, ...ON_THREE_MACHINES, ...Object.keys(IN_THE_LAB)].toSorted(),
  )
  const typed: readonly string[] = ON_ONE_MACHINE
  expect([...new Set(names)].filter((name) => typed.includes(name))).toEqual(typed)
})
