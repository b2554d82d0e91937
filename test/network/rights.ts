import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { pathsIn } from '../../network/paths.ts'
import { AGENT_SOCKET, SERVICE_USER } from '../../network/plan.ts'
import type { TestNetwork } from '../support/network/network.ts'

export function rights(network: () => TestNetwork): void {
  describe('rights', () => {
    test.each(['23', '25'] as const)('the service on %s runs as its own user, without any capability', (machine) => {
      const status = readFileSync(`/proc/${network().pidOf(machine, 'service')}/status`, 'utf8')
      const { id } = SERVICE_USER
      expect(status).toMatch(new RegExp(`^Uid:\\s+${id}\\s+${id}\\s+${id}`, 'm'))
      expect(status).toMatch(new RegExp(`^Gid:\\s+${id}\\s+${id}\\s+${id}`, 'm'))
      for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
        expect(status).toMatch(new RegExp(`^${set}:\\s+0+$`, 'm'))
      expect(status).toMatch(/^NoNewPrivs:\s+1$/m)
    })

    test('it can neither write the folders of nginx, nor signal it, nor read its keys or those of the agent', async () => {
      const { folder, config, pidFile } = network().description.edges['23']
      const mayNot = (...command: string[]) =>
        expect(network().runOn('23', 'drawbridge', ...command), command.join(' ')).rejects.toThrow()
      for (const place of [folder, join(folder, 'generations'), dirname(config)]) {
        await mayNot('touch', join(place, 'by-the-service'))
        expect(existsSync(join(place, 'by-the-service'))).toBe(false)
      }
      for (const file of [config, pidFile, join(folder, 'drawbridge.conf')]) await mayNot('sh', '-c', `: >> ${file}`)
      for (const part of ['nginx', 'edge']) await mayNot('kill', '-0', String(network().pidOf('23', part)))
      await mayNot('ls', join(folder, 'current', 'tls'))
      await mayNot('ls', pathsIn(network().state).of('23', 'edge'))
      // The same commands succeed where they may.
      await network().runOn('23', 'root', 'kill', '-0', String(network().pidOf('23', 'nginx')))
      await network().runOn('23', 'drawbridge', 'kill', '-0', String(network().pidOf('23', 'service')))
    })

    test('only root and the group of the service may connect to the agent on 23', async () => {
      const socket = join(`/proc/${network().pidOf('23', 'edge')}/root`, AGENT_SOCKET)
      for (const [path, mode] of [
        [socket, 0o660],
        [dirname(socket), 0o750],
      ] as const) {
        const found = lstatSync(path)
        expect([found.uid, found.gid, found.mode & 0o777]).toEqual([0, SERVICE_USER.id, mode])
      }
    })

    test.runIf(process.env.CAMPAIGN)('the database lets in the instances and nobody else', async () => {
      expect(await network().database('23')).toBe('connected')
      expect(await network().database('25')).toBe('connected')
      // invalid_authorization_specification: no rule for this address.
      for (const machine of ['10', '73', '253', 'public'] as const)
        expect([machine, await network().database(machine)]).toEqual([machine, '28000'])
    })
  })
}
