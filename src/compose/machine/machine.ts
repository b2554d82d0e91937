import type { SiteHere } from '../../cli/commands/adopt.ts'
import type { LinesHere } from '../../cli/views/drift.ts'
import type { Config } from '../../config/config.ts'
import { secretsOf } from '../../config/secrets.ts'
import type { EdgeMachine } from '../../operate/edge/commands.ts'
import type { KeepMachine } from '../../operate/keep/commands.ts'
import type { Machine } from '../../operate/machine.ts'
import { systemClock } from '../../primitives/clock.ts'

/**
 * Builds the parts of the commands on this machine. The imports are dynamic, so that a command loads only what it uses.
 */
export const machine: Machine = {
  clock: systemClock,

  async serve(config, file) {
    const { claimService, claimStateFolder, keepMemorySmall } = await import('../../runtime/instance.ts')
    keepMemorySmall()
    const { assemble } = await import('../assemble.ts')
    const { createLog } = await import('../../runtime/log.ts')
    const { serve } = await import('../../operate/serve.ts')
    const { Reloader } = await import('../../operate/reload.ts')
    const { endOnLostWrites, ownProcess } = await import('../../runtime/ending.ts')
    const { loadConfig } = await import('../../config/config.ts')
    const { LiveConfig } = await import('../../config/live.ts')
    claimStateFolder(config.stateDir)
    // Claimed before the store is opened: a service that is refused must not upgrade the store of the running one.
    const claim = await claimService(config.stateDir, systemClock)
    const live = new LiveConfig(config)
    // The secrets of former configurations stay in the list: what runs may still use them.
    const secrets = secretsOf(config)
    const log = createLog(config.log.level, secrets)
    endOnLostWrites(log, ownProcess)
    const reloader = new Reloader({
      ...{ live, log },
      read: () => loadConfig(file, process.env),
      onRead: (next) => secrets.push(...secretsOf(next)),
    })
    await serve(await assemble(live.view, log, { claim }), live.view, reloader)
  },

  async withParts(config, work) {
    const { assemble } = await import('../assemble.ts')
    const { createLog } = await import('../../runtime/log.ts')
    const parts = await assemble(config, createLog('silent', secretsOf(config)), { upgrade: false })
    return work(parts).finally(() => parts.store.close())
  },

  async openStore(config) {
    const { open } = await import('../open-store.ts')
    return open(config, { upgrade: false })
  },

  async readEntry(config, server, host) {
    const { entryOn } = await import('./show.ts')
    return entryOn(config, server, host)
  },

  async nginxSites(config, folder, tests) {
    const { nginxSites } = await import('./foreign-hosts.ts')
    return nginxSites(config, folder, tests)
  },

  async proxyManagerHosts(config, file) {
    const { proxyManagerHosts } = await import('./foreign-hosts.ts')
    return proxyManagerHosts(config, file)
  },

  async doctorParts(config) {
    const { doctorParts } = await import('./doctor.ts')
    return doctorParts(config)
  },

  async copyStore(from, to, onProgress) {
    const { claimService, claimStateFolder } = await import('../../runtime/instance.ts')
    const { settingOf } = await import('../open-store.ts')
    const { copyBetween } = await import('../../store/open.ts')
    const { highestEdgeEpoch } = await import('./edge-epoch.ts')
    // A service holds its state folder: it must not start on one of the two stores during the copy.
    const claims = []
    try {
      for (const folder of new Set([from.stateDir, to.stateDir])) {
        claimStateFolder(folder)
        claims.push(await claimService(folder, systemClock, 0))
      }
      const { highest: edgeEpoch, unknown } = await highestEdgeEpoch(from, to)
      const options = { now: systemClock.now(), edgeEpoch, onProgress }
      return { ...(await copyBetween(settingOf(from), settingOf(to), options)), unknownEpochs: unknown }
    } finally {
      for (const claim of claims) claim.release()
    }
  },

  async rotateKeys(config, lost) {
    const { open } = await import('../open-store.ts')
    const { rotateKeys } = await import('../../certificates/vault/vault.ts')
    const { untilKeyIsShared } = await import('../../operate/presence.ts')
    const store = await open(config, { upgrade: false })
    const { storeKeyFile: file, instances } = config
    const untilShared = (keyId: string) =>
      untilKeyIsShared(store, keyId, file, { withinMs: 3_000 * instances.takeOverSeconds, clock: systemClock })
    return rotateKeys({ store, file, now: systemClock.now, untilShared, forgetsLost: lost }).finally(() =>
      store.close(),
    )
  },

  async exportAccountKey({ stateDir, acme }, file) {
    const { exportAccountKey } = await import('../../certificates/acme/account.ts')
    const { directory, accountKey } = acme
    await exportAccountKey({ stateDir, directory, accountKey: accountKey?.reveal() }, (pem) => file.create(pem))
  },
}

/** The same for the commands that back the store up and bring it back. */
export const keepMachine: KeepMachine = {
  clock: systemClock,

  async backup(config, file, passphrase) {
    const { backupOf } = await import('./keep.ts')
    return backupOf(config, file, passphrase)
  },

  async restore(config, file, passphrase) {
    const { restoreFrom } = await import('./keep.ts')
    return restoreFrom(config, file, passphrase)
  },

  async rebuild(config, options) {
    const { rebuildFrom } = await import('./rebuild.ts')
    return rebuildFrom(config, options)
  },
}

/** The same for the commands of edges that an agent owns. */
export const edgeMachine: EdgeMachine = {
  clock: systemClock,
  async runAgent(config) {
    const { createLog } = await import('../../runtime/log.ts')
    const { composeAgent } = await import('./agent.ts')
    const { runAgent } = await import('../../operate/edge/run.ts')
    const { endOnLostWrites, ownProcess } = await import('../../runtime/ending.ts')
    const log = createLog(config.log.level, [])
    endOnLostWrites(log, ownProcess)
    await runAgent(composeAgent(config, log), log, ownProcess)
  },

  async enroll(config, at, confirm) {
    const { openEnrolment } = await import('../../edge/authority/enrolment.ts')
    const { trust, close } = await openTrust(config)
    const enrolment = await openEnrolment(trust, at, { clock: systemClock, confirm }).catch(async (error: unknown) => {
      await close()
      throw error
    })
    return { ...enrolment, joined: enrolment.joined.finally(close) }
  },

  async prepareKey({ stateDir, server }) {
    const { AgentIdentity } = await import('../../edge/authority/agent-identity.ts')
    const { keyFingerprint } = await import('../../edge/authority/authority.ts')
    return keyFingerprint(await new AgentIdentity(stateDir, server).preparedKey())
  },

  async join({ stateDir, server }, code) {
    const { AgentIdentity } = await import('../../edge/authority/agent-identity.ts')
    const { joinWith } = await import('../../edge/authority/enrolment.ts')
    const { forgetRetirement } = await import('../../edge/authority/retirement.ts')
    const identity = new AgentIdentity(stateDir, server)
    const { certificate, ca } = await joinWith(code, server, await identity.preparedKey(), systemClock)
    await identity.install(certificate, ca)
    forgetRetirement(stateDir)
  },

  async leave({ server, nginx, ports, stateDir }, retired) {
    const { leaveNginx } = await import('../../nginx/leave.ts')
    const { isRetired } = await import('../../edge/authority/retirement.ts')
    const withHosts = retired || isRetired(stateDir)
    return leaveNginx({ ...nginx, server, ports, clock: systemClock }, { withHosts })
  },

  async retire(config, server) {
    const { retireEdge } = await import('./retire.ts')
    return retireEdge(config, server)
  },

  async handOver({ server, folder }, { from, to, hosts }) {
    const { Fences } = await import('../../edge/fences/fences.ts')
    const { owning } = await import('../../edge/fences/folder-lock.ts')
    const fences = new Fences(folder, systemClock)
    return owning(folder, server, () => fences.handOver(from, to, hosts.length > 0 ? hosts : undefined))
  },

  async revoke(config, server) {
    const { trust, close } = await openTrust(config)
    return trust.revoke(server).finally(close)
  },

  async revokeServices(config) {
    const { trust, close } = await openTrust(config)
    return trust.revokeServices().finally(close)
  },
}

async function openTrust(config: Config) {
  const { openShelf } = await import('../open-store.ts')
  const { EdgeTrust } = await import('../../edge/authority/trust.ts')
  const shelf = await openShelf(config)
  return { trust: new EdgeTrust({ shelf, instance: 'console', now: systemClock.now }), close: shelf.close }
}

/** What differs of a host on the edges of this machine, line by line. */
export const linesHere: LinesHere = async (host, file) => (await import('./show.ts')).linesHere(host, file)

/** What the nginx of this machine says about the site of a host. */
export const siteHere: SiteHere = async (file, host) => {
  const { configOnly } = await import('../../operate/open-config.ts')
  const { findingsOf } = await import('./foreign-hosts.ts')
  return findingsOf(await configOnly(file), file, host)
}
