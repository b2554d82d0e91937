import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startLoad } from '../../support/backends/load.ts'
import { visit } from '../../support/edge/visitor.ts'
import { editEntry, entryFile, hasEntry } from '../../support/lab/entry-file.ts'
import { applied, expected, planOf, run } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { forgetReleased } from '../../support/lab/released.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'
import { command } from '../../support/programs/command.ts'

/** A host is given back as a file of its own, while visitors ask for it all the time. */
let lab: TestLab
beforeAll(async () => {
  lab = await borrowLab()
})
afterAll(async () => {
  if (lab) forgetReleased(lab, released)
  await lab?.stop()
})

const released: string[] = []

const primary = () => lab.description.edges.primary
const said = (...args: string[]) => command([...args, '--url', lab.description.inside])

/** What nginx answers to a table of questions, without what differs from moment to moment. */
const answers = (host: string) =>
  Promise.all(
    ['/healthz', '/', '/nowhere?a=b%20c', '/.well-known/acme-challenge/none'].map(async (path) => {
      const { status, text } = await visit(primary(), { host, path })
      return { path, status, text }
    }),
  )

test.each([{ tls: false }, { tls: true }])('release drops no request and changes no answer (%o)', async ({ tls }) => {
  const { planId, host } = await applied(lab, { subdomain: `given-back-${tls}`, tls })
  released.push(host)
  const before = await answers(host)
  const load = startLoad(primary(), host, '/healthz', { tls, perSecond: 100 })
  const { code, stdout, stderr } = await said('release', host, '--yes', '--json')
  const { served, failures } = await load.stop()
  expect(stderr).toBe('')
  expect(code).toBe(0)
  expect(failures).toEqual([])
  expect(served).toBeGreaterThan(0)
  const { state, file } = JSON.parse(stdout) as { state: string; file: string }
  expect(state).toBe('released')
  expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`server_name ${host.replaceAll('.', '\\.')};`))
  expect(hasEntry(primary(), host)).toBe(false)
  expect(await answers(host)).toEqual(before)
  expect((await planOf(lab, planId)).state).toBe('released')
  expect(expected(await lab.call({ path: `/api/health?host=${host}` }), 200).managed).toBe(false)
})

test('release refuses a host that differs from its plan, and changes nothing', async () => {
  const { planId, host } = await applied(lab, { subdomain: 'not-given-back', tls: false })
  editEntry(entryFile(primary(), host), host)
  const { code, stderr } = await said('release', host, '--yes')
  expect(code).not.toBe(0)
  expect(stderr).toContain(`drawbridge repair ${host}`)
  expect((await planOf(lab, planId)).state).toBe('applied')
  expect(hasEntry(primary(), host)).toBe(true)
  expected(await run(lab, planId, 'repair', {}, { overwrite: true }), 200)
})

test("release does not give away somebody else's host without its name", async () => {
  const { planId, host } = await applied(lab, { subdomain: 'of-others', tls: false, owner: 'team-a' })
  const { code } = await said('release', host, '--yes', '--owner', 'team-b')
  expect(code).not.toBe(0)
  expect((await planOf(lab, planId)).state).toBe('applied')
})
