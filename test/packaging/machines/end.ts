import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRoot } from '../../../lab/program.ts'
import { expose, PAGE, ready, setUp, states, visit, visitsDuring } from '../../support/machine/installation.ts'
import { Machine } from '../../support/machine/machine.ts'
import { ADDRESS, BACKEND, surround } from '../../support/machine/surroundings.ts'
import { buildPackage } from '../../support/package/build.ts'
import type { Suite } from '../../support/package/clean-root.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { until } from '../../support/until.ts'

const HOST = 'first.example.test'
/** A site that was there before Drawbridge. */
const SITE = `server {
  listen 80;
  server_name mine.example.test;
  location / { proxy_pass http://${BACKEND}:3000; proxy_set_header Host $host; }
}
`
/** The end of an installation: what was given back or was there before stays on the air. */
export function endOf(suite: Suite): void {
  const folder = tempFolder()
  let machine: Machine
  let newer: string

  beforeAll(async () => {
    if (!isRoot()) return
    const { deb } = await buildPackage(join(folder.path, 'first'), { only: 'deb', uncompressed: true })
    ;({ deb: newer } = await buildPackage(join(folder.path, 'second'), {
      only: 'deb',
      uncompressed: true,
      revision: '2',
    }))
    machine = await Machine.boot(suite)
    await surround(machine)
    await machine.write('/etc/nginx/sites-enabled/mine', SITE)
    await machine.write('/root/zone.before', 'mine IN A 192.168.45.23\n')
    await machine.done('cat /root/zone.before >>/var/lib/bind/example.test.zone && rndc reload example.test')
    await machine.done('systemctl reload nginx')
    await setUp(machine, deb)
    for (const host of [HOST, 'given.example.test']) await expose(machine, host)
  }, 600_000)
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })

  const visitMine = () => machine.done(`curl -s -H 'Host: mine.example.test' http://${ADDRESS}/`)
  const isActive = () => expect(states(machine)).resolves.toEqual(['active', 'active'])

  /** One test goes on where the former ended. */
  describe.runIf(isRoot())(`the end of an installation (${suite})`, { timeout: 300_000 }, () => {
    test('a site that was there is adopted, and an exposed one is given back', async () => {
      for (const file of ['drawbridge', 'edge'])
        await machine.done(`echo 'adopt: { enabled: true }' >>/etc/drawbridge/${file}.yaml`)
      await machine.done('systemctl restart drawbridge-edge drawbridge')
      await ready(machine)
      expect(await machine.run('drawbridge', 'adopt', 'mine.example.test', '--yes')).toMatchObject({ code: 0 })
      expect(await visitMine()).toBe('a page of 25\n')
      expect(await machine.run('drawbridge', 'release', 'given.example.test', '--yes')).toMatchObject({ code: 0 })
      expect(await visit(machine, 'given.example.test')).toBe(PAGE)
      expect(await machine.done('drawbridge diff --all')).not.toContain('given.example.test')
    })

    test('an upgrade restarts the service, and no visitor notices it', async () => {
      await machine.copyIn(newer, '/root/newer.deb')
      const install = () => machine.done('apt-get install -y /root/newer.deb')
      const answers = await visitsDuring(machine, [`https://${HOST}/`], install)
      expect(answers.filter((answer) => answer !== '200 0')).toEqual([])
      expect(answers.length).toBeGreaterThan(20)
      await ready(machine)
      await isActive()
      expect(await machine.done('dpkg -s drawbridge')).toMatch(/^Version: .*-2$/m)
    })

    test('a removal leaves every site on the air, and a new installation goes on', async () => {
      const removed = await machine.done('apt-get remove -y drawbridge')
      expect(removed).toContain(HOST)
      // `failed`: it had to be ended.
      expect(await states(machine)).toEqual(['inactive', 'inactive'])
      expect(await visit(machine, HOST)).toBe(PAGE)
      await machine.done('apt-get install -y /root/newer.deb')
      await ready(machine)
      await isActive()
      expect(await expose(machine, 'later.example.test')).toMatchObject({ code: 0 })
      await until('the released host is listed as one that is not managed', async () =>
        /^given\.example\.test +RUNNING \(not managed\)/m.test(await machine.done('drawbridge status')),
      )
      expect(await machine.done('drawbridge status')).not.toMatch(/later\.example\.test.*not managed/)
    })

    test('a released host is adopted again, and given back again', async () => {
      const adopt = ['adopt', 'given.example.test', '--health', '/healthz', '--yes']
      expect(await machine.run('drawbridge', ...adopt)).toMatchObject({ code: 0 })
      expect(await machine.done('drawbridge diff --all')).toContain('given.example.test')
      expect(await machine.run('drawbridge', 'release', 'given.example.test', '--yes')).toMatchObject({ code: 0 })
      expect(await visit(machine, 'given.example.test')).toBe(PAGE)
    })

    test('a purge withdraws the names, and released and adopted sites stay on the air', async () => {
      await machine.done('apt-get purge -y drawbridge', { seconds: 200 })
      await machine.done('nginx -t && systemctl restart nginx')
      expect(await visit(machine, 'given.example.test')).toBe(PAGE)
      expect(await visitMine()).toBe('a page of 25\n')
      expect(await visit(machine, HOST)).not.toBe(PAGE)
      const points = (host: string) => machine.done(`dig +short ${host} @127.0.0.1`)
      expect(await points(HOST)).toBe('')
      expect(await points('mine.example.test')).toBe('192.168.45.23\n')
      expect(await machine.done('systemctl --failed --no-legend')).toBe('')
      const left = await machine.done(
        'ls -d /etc/drawbridge /var/lib/drawbridge* /etc/nginx/drawbridge; id drawbridge; true',
      )
      expect(left).not.toMatch(/^\/|uid=/m)
    })
  })
}
