import { keyIdsIn } from '../../certificates/vault/key-file.ts'
import { Vault } from '../../certificates/vault/vault.ts'
import type { Config } from '../../config/config.ts'
import { EdgeTrust } from '../../edge/authority/trust.ts'
import { Fences } from '../../edge/fences/fences.ts'
import { owning } from '../../edge/fences/folder-lock.ts'
import type { AuditEntry } from '../../model/audit.ts'
import { sentenceOf } from '../../model/errors.ts'
import { BY_CONSOLE } from '../../model/run.ts'
import { type BackupReport, backup } from '../../operate/keep/backup.ts'
import { type RestoreParts, type RestoreReport, restore } from '../../operate/keep/restore.ts'
import { systemClock } from '../../primitives/clock.ts'
import { claimService, claimStateFolder } from '../../runtime/instance.ts'
import { createLog } from '../../runtime/log.ts'
import type { NamedFile } from '../../runtime/named-file.ts'
import { VERSION } from '../../runtime/version.ts'
import { assertCanRestore, openStore, raiseEpoch, restoreInto, snapshotOf } from '../../store/open.ts'
import type { Store } from '../../store/ports/store.ts'
import { agentClient } from '../edges.ts'
import { settingOf } from '../open-store.ts'
import { believedEpoch } from './edge-epoch.ts'

/** Backs the store and the state folder up. A service may run on them. */
export function backupOf(config: Config, file: NamedFile, passphrase: string | undefined): Promise<BackupReport> {
  const { stateDir, storeKeyFile } = config
  const setting = settingOf(config)
  return backup(file, passphrase, {
    ...{ stateDir, storeKeyFile, version: VERSION, now: systemClock.now },
    withSnapshot: (work) => snapshotOf(setting, work),
    keyIds: keyIdsIn,
    note: ({ at, bytes, isEncrypted, tables, files }) =>
      withStore(config, (store) =>
        store.transaction(async (session) => {
          await session.noteBackup(at)
          const facts = { bytes, isEncrypted, rows: rowsIn(tables), files }
          await session.appendAudit(entryOf('backup', facts))
        }),
      ),
  })
}

/** Restores a backup. No service may run on the state folder. */
export async function restoreFrom(
  config: Config,
  file: NamedFile,
  passphrase: string | undefined,
): Promise<RestoreReport> {
  const { stateDir, storeKeyFile } = config
  const setting = settingOf(config)
  return holdingState(config, () =>
    restore(file, passphrase, {
      ...{ stateDir, storeKeyFile },
      assertCanRestore: ({ schema }) => assertCanRestore(setting, schema),
      restoreStore: (content) =>
        restoreInto(setting, content, { now: systemClock.now(), edgeEpoch: highestLocalEpoch(config) }),
      riseAboveAgents: () => riseAboveAgents(config),
      note: ({ storeId, epoch, tables, files }) =>
        withStore(config, async (store) => {
          const facts = {
            storeId,
            fromEpoch: epoch.from,
            toEpoch: epoch.to,
            rows: rowsIn(tables),
            files: files.written,
          }
          await store.appendAudit(entryOf('restore', facts))
        }),
    }),
  )
}

const rowsIn = (tables: BackupReport['tables']): number => tables.reduce((sum, { rows }) => sum + rows, 0)

export const entryOf = (action: AuditEntry['action'], facts: NonNullable<AuditEntry['facts']>): AuditEntry => {
  const { actor, network } = BY_CONSOLE
  return { at: systemClock.now(), actor, network, action, outcome: 'ok', facts }
}

async function withStore<T>(config: Config, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(settingOf(config), { upgrade: false })
  return work(store).finally(() => store.close())
}

/** Runs `work` while no service runs on the state folder, and nobody changes an nginx of this machine. */
export async function holdingState<T>({ stateDir, edges }: Config, work: () => Promise<T>): Promise<T> {
  claimStateFolder(stateDir)
  const claim = await claimService(stateDir, systemClock, 0)
  const owned = Object.entries(edges).reduce(
    (inner, [server, { folder }]) =>
      () =>
        owning(folder, server, inner),
    work,
  )
  return owned().finally(() => claim.release())
}

/** The highest epoch of the edges that this machine changes itself. */
export const highestLocalEpoch = ({ edges }: Config): number =>
  Math.max(0, ...Object.values(edges).map(({ folder }) => new Fences(folder, systemClock).highestEpoch()))

/** The same of edges behind agents. They are asked with the certificates of the store, which must have them. */
async function riseAboveAgents(config: Config): ReturnType<RestoreParts['riseAboveAgents']> {
  const { agents, storeKeyFile } = config
  if (Object.keys(agents).length === 0) return { epoch: await raiseEpoch(settingOf(config), 0), silent: [] }
  return withStore(config, async (store) => {
    const shelf = await Vault.open({ store, file: storeKeyFile, now: systemClock.now })
    const trust = new EdgeTrust({ shelf, instance: 'console', now: systemClock.now })
    const log = createLog('silent', [])
    const silent: { server: string; reason: string }[] = []
    let highest = 0
    for (const [server, agent] of Object.entries(agents)) {
      const client = agentClient({ server, agent, trust, clock: systemClock }, log)
      await client
        .describe()
        .then(({ epoch }) => {
          highest = Math.max(highest, believedEpoch(server, epoch))
        })
        .catch((error: unknown) => silent.push({ server, reason: sentenceOf(error) }))
      client.reconnect()
    }
    return { epoch: await raiseEpoch(settingOf(config), highest), silent }
  })
}
