import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRoot } from '../../../lab/program.ts'
import { hourOfDuties } from '../../support/machine/duties.ts'
import { expose, PAGE, ready, setUp, states, visit } from '../../support/machine/installation.ts'
import { Machine } from '../../support/machine/machine.ts'
import { upgradeNginx } from '../../support/machine/newer-nginx.ts'
import { WITH_POSTGRES } from '../../support/machine/postgres.ts'
import { ADDRESS, surround } from '../../support/machine/surroundings.ts'
import { buildPackage } from '../../support/package/build.ts'
import type { Suite } from '../../support/package/clean-root.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { until } from '../../support/until.ts'
import { typePage } from './page.ts'

const HOST = 'first.example.test'
const READYZ = `http://${ADDRESS}:8045/readyz`

/** The life of an installation on a machine that was booted with a real systemd: Debian with its own nginx and BIND, and the package as it is built. */
export function lifeOf(suite: Suite): void {
  const folder = tempFolder()
  let machine: Machine
  /** What was typed from the package file to the first host, and how long that took. */
  let typed: string[] = []
  let seconds = 0

  beforeAll(async () => {
    if (!isRoot()) return
    const { deb } = await buildPackage(folder.path, { only: 'deb', uncompressed: true })
    machine = await Machine.boot(suite, WITH_POSTGRES)
    await surround(machine)
    const begun = performance.now()
    typed = await setUp(machine, deb)
    await machine.onTerminal(typed.at(-1) ?? '', [['Expose', 'y']])
    seconds = Math.round((performance.now() - begun) / 1_000)
  }, 600_000)
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })

  /** After whatever happened: the first host is served, and another one can be had and given up. */
  async function expectWhole(): Promise<void> {
    await ready(machine)
    expect(await visit(machine, HOST)).toBe(PAGE)
    const exposed = await expose(machine, 'other.example.test')
    expect(exposed.code, exposed.output).toBe(0)
    expect(await visit(machine, 'other.example.test')).toBe(PAGE)
    const removed = await machine.run('drawbridge', 'down', 'other.example.test', '--yes')
    expect(removed.code, removed.output).toBe(0)
  }

  /** One test goes on where the former ended. */
  describe.runIf(isRoot())(`a server of somebody (${suite})`, { timeout: 300_000 }, () => {
    test('serves a first host over HTTPS after at most six commands, each printed by the one before', async () => {
      process.stdout.write(`The first host after ${seconds} s:\n  ${typed.join('\n  ')}\n`)
      expect(typed.length).toBeLessThanOrEqual(6)
      expect(await visit(machine, 'app.example.test')).toBe(PAGE)
    })

    test('stands beside the default site of Debian, and doctor finds no fault', async () => {
      expect(await expose(machine, HOST)).toMatchObject({ code: 0 })
      expect(await visit(machine, HOST)).toBe(PAGE)
      expect(await machine.done(`curl -s http://${ADDRESS}/`)).toContain('Welcome to nginx!')
      expect(await states(machine)).toEqual(['active', 'active'])
      expect(await machine.run('drawbridge', 'doctor')).toMatchObject({ code: 0 })
      expect(await machine.done('nginx -t 2>&1')).not.toContain('[warn]')
    })

    test('tells another user that the configuration is not for everybody', async () => {
      const asNobody = 'setpriv --reuid nobody --regid nogroup --clear-groups drawbridge doctor'
      const told = '/etc/drawbridge/drawbridge.yaml: You may not read it. Run this as root or as the user drawbridge.'
      expect((await machine.sh(asNobody)).output).toContain(told)
    })

    test('reads its configuration again when root or systemd asks for it', async () => {
      expect(await machine.run('drawbridge', 'reload')).toMatchObject({
        code: 0,
        output: expect.stringContaining('Nothing has changed.'),
      })
      expect(await machine.run('systemctl', 'reload', 'drawbridge')).toMatchObject({ code: 0 })
    })

    test('a killed service and a killed agent are started again', async () => {
      await machine.done('systemctl kill --signal=KILL drawbridge drawbridge-edge')
      await until('both run again', async () => (await states(machine)).every((state) => state === 'active'), 30_000)
      await expectWhole()
    })

    test('a kill in the middle of an apply ends whole', async () => {
      const applying = expose(machine, 'killed.example.test')
      await machine.done('sleep 0.4; systemctl kill --signal=KILL drawbridge drawbridge-edge')
      await applying
      await ready(machine)
      await until(
        'the run has ended',
        async () => !(await machine.done('drawbridge plans')).includes('applying'),
        60_000,
      )
      await machine.run('drawbridge', 'down', 'killed.example.test', '--yes')
      await until('nothing is left of it', async () => {
        const left = await machine.done('dig +short killed.example.test @127.0.0.1; drawbridge diff --all')
        return !left.includes('killed')
      })
      await expectWhole()
    })

    test('both end soon after SIGTERM, and no host leaves the air', async () => {
      const plain = 'drawbridge up plain.example.test --server 25 --port 3000 --health /healthz --no-tls --yes'
      expect(await machine.sh(plain)).toMatchObject({ code: 0 })
      await machine.done('drawbridge diagnose plain.example.test')
      await machine.done('systemctl stop drawbridge drawbridge-edge')
      // `failed`: it had to be ended.
      expect(await states(machine)).toEqual(['inactive', 'inactive'])
      expect(await visit(machine, HOST)).toBe(PAGE)
      await machine.done('systemctl start drawbridge-edge drawbridge')
      await expectWhole()
    })

    test('is there again after a reboot', async () => {
      await machine.reboot()
      await expectWhole()
      expect(await machine.done('systemctl --failed --no-legend')).toBe('')
    })

    test('waits for an address that comes late', async () => {
      await machine.done(`ip addr del ${ADDRESS}/24 dev lan0 && systemctl restart drawbridge`)
      await until('the journal tells the missing address', async () => {
        const told = await machine.done('journalctl -u drawbridge --since -1min -o cat')
        return told.includes('listen_address_missing')
      })
      await machine.done(`ip addr add ${ADDRESS}/24 dev lan0`)
      await expectWhole()
    })

    test('tells a full disk with its folder, and goes on by itself when there is space', async () => {
      const state = '/var/lib/drawbridge'
      await machine.done(
        `systemctl stop drawbridge; mv ${state} ${state}.kept; mkdir ${state}; mount -t tmpfs -o size=8m tmpfs ${state}; ` +
          `cp -a ${state}.kept/. ${state}/; chown drawbridge: ${state}; chmod 0700 ${state}; systemctl start drawbridge`,
      )
      await ready(machine)
      await machine.sh(`dd if=/dev/zero of=${state}/filler bs=4k`)
      expect(await expose(machine, 'full.example.test')).toMatchObject({
        code: expect.not.toSatisfy((code) => code === 0),
        output: expect.stringContaining(`the disk of ${state} is full`),
      })
      // A probe from outside learns no folder.
      expect(await machine.done(`curl -s ${READYZ}`)).toContain('The disk of the state folder is full')
      expect((await machine.run('drawbridge', 'doctor')).output).toContain(`The disk of ${state} is full`)
      await machine.done(`rm ${state}/filler`)
      await expectWhole()
      await machine.done(
        `systemctl stop drawbridge; cp -a ${state}/. ${state}.kept/; umount ${state}; rmdir ${state}; mv ${state}.kept ${state}; ` +
          'systemctl start drawbridge',
      )
      await expectWhole()
    })

    test('no map of the administrator breaks it, and it breaks none', async () => {
      const upgrade = 'map $http_upgrade $connection_upgrade { default upgrade; "" close; }\n'
      await machine.write('/etc/nginx/conf.d/websocket.conf', upgrade)
      await machine.done('nginx -t && systemctl reload nginx')
      expect(await expose(machine, `${'long-'.repeat(8)}name.example.test`)).toMatchObject({ code: 0 })
      // After our include, too.
      const after = String.raw`s|^\tinclude /etc/nginx/drawbridge/.*|&\n\tmap $http_accept $is_page { default 0; "~html" 1; }|`
      await machine.done(`sed -i '${after}' /etc/nginx/nginx.conf && grep -q is_page /etc/nginx/nginx.conf && nginx -t`)
      await machine.done('systemctl restart nginx')
      await expectWhole()
    })

    test('a log that the unit of the agent forbids is named, with the line that permits it', async () => {
      const site = 'server { listen 80; server_name own.example.test; access_log /srv/logs/a.log; return 200 own; }\n'
      await machine.done('mkdir -p /srv/logs')
      await machine.write('/etc/nginx/sites-enabled/own', site)
      await machine.done('nginx -t && systemctl reload nginx')
      const told =
        'he agent may not write /srv/logs/a.log (its unit forbids it). ' +
        'Run `systemctl edit drawbridge-edge` and add ReadWritePaths=/srv/logs. Then run `systemctl restart drawbridge-edge`.'
      const refused = { code: expect.not.toSatisfy((code) => code === 0), output: expect.stringContaining(told) }
      expect(await expose(machine, 'log.example.test')).toMatchObject(refused)
      const examined = await machine.run('drawbridge', 'doctor')
      expect(examined).toMatchObject(refused)
      expect(examined.output).not.toContain('Correct the configuration')
      expect(await machine.run('drawbridge', 'init')).toMatchObject(refused)
      const override = '/etc/systemd/system/drawbridge-edge.service.d/override.conf'
      await machine.write(override, '[Service]\nReadWritePaths=/srv/logs\n')
      await machine.done('systemctl daemon-reload && systemctl restart drawbridge-edge')
      await expectWhole()
      expect(await machine.run('drawbridge', 'init')).toMatchObject({ code: 0 })
    })

    test('goes on after logs are rotated', async () => {
      await machine.done('logrotate -f /etc/logrotate.d/nginx')
      await expectWhole()
    })

    test('no visitor gets a wrong answer while Debian upgrades nginx, and all is served after its restart', async () => {
      const hosts = [HOST, 'app.example.test', `${'long-'.repeat(8)}name.example.test`]
      const sites = { [`http://${ADDRESS}/`]: 'Welcome to nginx!', 'http://own.example.test/': 'own' }
      const expectServed = async () => {
        for (const host of hosts) expect(await visit(machine, host)).toBe(PAGE)
        for (const [address, page] of Object.entries(sites))
          expect(await machine.done(`curl -s --connect-to ::${ADDRESS}: ${address}`)).toContain(page)
      }
      const addresses = [...hosts.map((host) => `https://${host}/`), ...Object.keys(sites)]
      const answers = await upgradeNginx(machine, addresses)
      // Debian's package stops nginx and starts it: for a moment nobody is connected, or the connection ends.
      expect(answers.filter((answer) => !/^(200 0|000 (7|35|52|56))$/.test(answer))).toEqual([])
      expect(answers.filter((answer) => answer === '200 0').length).toBeGreaterThan(20)
      await expectServed()
      await expectWhole()
      await machine.done('systemctl restart nginx')
      await expectServed()
      await expectWhole()
      expect(await machine.run('drawbridge', 'diff', '--all')).toMatchObject({ code: 0 })
      expect(await machine.run('drawbridge', 'doctor')).toMatchObject({ code: 0 })
      expect(await machine.done('nginx -t 2>&1')).not.toContain('[warn]')
    })

    test('goes through an hour of its duties while nginx is stopped, and heals by itself when it runs again', async () => {
      const stateOf = async (host: string) =>
        new RegExp(`^${host.replaceAll('.', '\\.')} +(.*?) {2}`, 'm').exec(await machine.done('drawbridge status'))?.[1]
      const names = () => machine.done(`for host in ${HOST} app.example.test; do dig +short $host @127.0.0.1; done`)
      await machine.done('systemctl stop nginx')
      await until('the host is down', async () => (await stateOf(HOST)) === 'DOWN', 120_000)
      // What somebody asks for meanwhile is refused, and leaves nothing that a person would have to resolve.
      const refused = {
        code: expect.not.toSatisfy((code) => code === 0),
        output: expect.stringContaining('nginx of edge 23 does not answer (refused). Start it.'),
      }
      expect(await expose(machine, 'away.example.test')).toMatchObject(refused)
      for (const asked of ['down', 'renew', 'repair'])
        expect(await machine.run('drawbridge', asked, HOST, ...(asked === 'down' ? ['--yes'] : []))).toMatchObject(
          refused,
        )
      await until(
        'the edge is told as away',
        async () => (await machine.done('drawbridge doctor; true')).includes('names no running nginx'),
        60_000,
      )
      const [before] = (await machine.done('journalctl -n 0 --show-cursor -q')).match(/(?<=-- cursor: ).*/) ?? []
      const told = await hourOfDuties(machine)
      expect(told).toContain('recover: no interrupted run was found.')
      expect(told.filter((sentence) => /fail|could not|not renewed|removed|in step on/.test(sentence))).toEqual([])
      const units = '-u drawbridge -u drawbridge-edge -o cat -q'
      const journal = await machine.done(`journalctl ${units} --after-cursor '${before}'`)
      const lines = journal.trim().split('\n')
      expect(lines.filter((line) => !/"event":"(duty_by_request|badge_changed)"/.test(line)).length).toBeLessThan(5)
      expect(await names()).toBe(`${ADDRESS}\n${ADDRESS}\n`)

      await machine.done('systemctl start nginx')
      await until('the host runs', async () => (await stateOf(HOST)) === 'RUNNING', 120_000)
      for (const host of [HOST, 'app.example.test']) expect(await visit(machine, host)).toBe(PAGE)
      expect(await machine.done('drawbridge status')).not.toContain('blocked')
      expect(await machine.run('drawbridge', 'diff', '--all')).toMatchObject({ code: 0 })
      expect(await machine.run('drawbridge', 'doctor')).toMatchObject({ code: 0 })
      expect(await states(machine)).toEqual(['active', 'active'])
      expect(await machine.done('systemctl --failed --no-legend')).toBe('')
      await expectWhole()
    })

    typePage(() => machine, expectWhole)
  })
}
