import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { systemClock } from '../../../src/primitives/clock.ts'
import { type Claim, claimInstance, claimService } from '../../../src/runtime/instance.ts'
import { freshFolder } from '../../support/fresh.ts'

const at = freshFolder()
let claims: Claim[] = []
const claimed = (claim: Claim): Claim => {
  claims.push(claim)
  return claim
}
const claim = () => claimed(claimInstance(at()))

afterEach(() => {
  for (const each of claims) each.release()
  claims = []
})

test('whoever holds the state folder has the name that is kept there, again after it has ended', () => {
  const first = claim()
  first.release()
  expect(claim().name).toBe(first.name)
})

test('a second program never takes the name, although no process here has the pid of the first', () => {
  const { name } = claim()
  // As another container sees it: processes of other pid namespaces are not there.
  writeFileSync(at('instance.json'), JSON.stringify({ name, pid: 4_194_304, born: '1' }))
  expect(claim().name).not.toBe(name)
})

test('a second service on the same state folder is refused by a sentence that names the folder', async () => {
  const { name, release } = claimed(await claimService(at(), systemClock))
  await expect(claimService(at(), systemClock, 50)).rejects.toThrow(
    `Another Drawbridge service uses the state folder ${at()}`,
  )
  release()
  expect(claimed(await claimService(at(), systemClock)).name).toBe(name)
})

test('what it keeps is for the owner alone', () => {
  claim()
  for (const file of readdirSync(at())) expect(statSync(at(file)).mode & 0o077).toBe(0)
})
