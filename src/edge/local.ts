import { mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { escapeText } from '../model/escape-text.ts'
import {
  hostEntry,
  hostFile,
  isCertificateFile,
  isHost,
  isReleased,
  isSecret,
  parsePath,
  placeOf,
  releasedFile,
  releasedFolder,
} from './config/layout.ts'
import { renderCertificate, renderEntry } from './config/render-certificate.ts'
import { renderReleased } from './config/render-released.ts'
import { renderSite } from './config/render-site.ts'
import { type Edge, type EdgeChange, EdgeFault, type EdgeFile } from './contract.ts'
import {
  certificateRemovals,
  keepUsedCertificates,
  pairInUse,
  unusedCertificates,
} from './files/certificates-in-use.ts'
import { Fences } from './files/fences.ts'
import { hashFile, readEdgeFile } from './files/files.ts'
import { replaceFiles } from './files/replace.ts'
import { type DebugLog, debugLogs } from './process/debug-logs.ts'
import { testConfiguration } from './process/nginx-program.ts'
import { prepareEdge } from './process/prepare.ts'
import { reloadNginx } from './process/reload.ts'
import { testShadow } from './process/shadow.ts'
import { refusalSentence } from './reading/refusal.ts'
import type { EdgeSettings } from './settings.ts'
import { askEdge, foreignListeners } from './visit/ask.ts'
import { tlsHandshake } from './visit/handshake.ts'

const HANDSHAKE_MS = 5_000

/** An nginx on this machine. `loaded` is called after every proven reload with the time at which the reload began. */
export function localEdge(settings: EdgeSettings, loaded?: (since: number) => void): Edge {
  const { server, folder } = settings
  const fencesOnDisk = new Fences(folder)

  const assertValid = async (signal?: AbortSignal): Promise<void> => {
    const refusal = await testConfiguration(settings, settings.config, signal)
    if (!refusal) return
    throw new EdgeFault(
      'config_broken',
      `The nginx configuration of edge ${server} is broken: ${refusalSentence(refusal)}. Repair it and run "nginx -t".`,
    )
  }
  const assertNoDebugLog = async (): Promise<void> => {
    const [first] = debugLogs(settings)
    if (first) throw logsKeys(server, first)
  }
  const validate: Edge['validate'] = async ({ files }, begun, signal) => {
    if (files.some(({ path, content }) => content !== null && isSecret(path))) await assertNoDebugLog()
    const kept = await keepUsedCertificates(folder, assertOwnPaths(files))
    const refusal = await testShadow(settings, kept, { begun, signal })
    if (!refusal) return
    await assertValid(signal)
    throw new EdgeFault(
      'change_invalid',
      `nginx on edge ${server} rejected the change: ${refusalSentence(refusal)}. Nothing was changed.`,
    )
  }
  const swap = async ({ files, fences, ...change }: EdgeChange): Promise<void> => {
    if (files.some(({ path }) => isReleased(path))) mkdirSync(releasedFolder(folder), { recursive: true, mode: 0o755 })
    const kept = await keepUsedCertificates(folder, assertOwnPaths(files))
    await replaceFiles(folder, { ...change, files: kept }, fencesOnDisk.claim(fences))
  }
  const releasedFiles: Edge['releasedFiles'] = async (host, certificate) => {
    // Somebody may have put a link to a file of his own in the place of ours: nginx follows it, and so does this.
    const text = await readFile(placeOf(folder, hostFile(host)), 'utf8').catch(() => null)
    if (text === null) return []
    return renderReleased({ host, text, pair: certificate ?? (await pairInUse(folder, host)) }, settings, folder)
  }

  return {
    server,
    assertValid,
    assertNoDebugLog,
    validate,
    swap,
    prepare: (signal) => prepareEdge(settings, signal),
    async reload({ fences, signal } = {}) {
      fencesOnDisk.claim(fences).assertNewest()
      const since = Date.now()
      await reloadNginx(settings, signal)
      loaded?.(since)
    },
    ask: (question, signal) => askEdge(settings, question, undefined, signal),
    foreignListeners: (question, signal) => foreignListeners(settings, question, signal),
    handshake: (host, signal) =>
      tlsHandshake({ address: settings.address, port: settings.ports.https }, host, HANDSHAKE_MS, signal),
    certificateFiles: renderCertificate,
    certificateEntry: renderEntry,
    isCertificateFile,
    unusedCertificates: () => unusedCertificates(folder),
    hashFiles: async (paths) => Promise.all(paths.map((path) => hashFile(folder, ownPath(path)))),
    read: async (paths) => Promise.all(paths.map((path) => readEdgeFile(folder, ownPath(path)))),
    releasedFiles,
    releasedPath: (host) => placeOf(folder, releasedFile(host, 'conf')),
    async filesFor(site) {
      const files = renderSite(site, settings)
      const wanted = new Set(files.map(({ path }) => path))
      const former = [...(await certificateRemovals(folder, site.host)), absent(hostEntry(site.host))]
      return keepUsedCertificates(folder, [...files, ...former.filter(({ path }) => !wanted.has(path))])
    },
    async filesWithout(host) {
      if (!isHost(host)) throw new Error(`${escapeText(host)} is not a valid host name.`)
      const certificate = await certificateRemovals(folder, host)
      return keepUsedCertificates(folder, [absent(hostFile(host)), absent(hostEntry(host)), ...certificate])
    },
  }
}

const absent = (path: string): EdgeFile => ({ path, content: null, secret: false })

const logsKeys = (server: string, { path, line }: DebugLog): EdgeFault =>
  new EdgeFault(
    'logs_keys',
    `nginx on edge ${server} is configured to log at debug level (${escapeText(path)}${line === null ? '' : `, line ${line}`}), which ` +
      'writes private keys into its log. Set error_log to another level, remove debug_connection, and reload nginx.',
  )

/** A change may come from a journal or a backup. Throws for a path that leads out of the edge's folder. */
function assertOwnPaths(files: readonly EdgeFile[]): readonly EdgeFile[] {
  for (const { path } of files) parsePath(path)
  return files
}

function ownPath(path: string): string {
  parsePath(path)
  return path
}
