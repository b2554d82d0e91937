import type { Command } from 'commander'
import { UsageError, withExample } from '../../terminal/declare.ts'
import { print, standardOutput } from '../../terminal/print.ts'
import type { Screen } from '../../terminal/screen.ts'
import { type ApiOptions, apiClient, withApiOptions } from '../api-client.ts'
import { EXIT } from '../exit-codes.ts'
import type { Act, Comparison } from '../file/exposures.ts'
import { type OwnerOptions, withOwner } from '../ownership.ts'
import { ownName } from '../service/own-settings.ts'

export function addExport(program: Command): void {
  const command = withApiOptions(program.command('export'))
    .description('print all exposures as YAML, for import, diff -f and apply -f')
    .action(async (options: ApiOptions) => {
      const { readExposed } = await import('../file/exposures.ts')
      const { exposuresText } = await import('../../config/exposures-file.ts')
      const exposures = (await readExposed(await apiClient(options))).map(({ planId: _, ...listed }) => listed)
      print({ body: { exposures }, lines: () => [exposuresText(exposures).trimEnd()] }, options.json)
    })
  withExample(command, 'drawbridge export > exposures.yaml')
}

export function addImport(program: Command): Command {
  const command = withOwner(withApiOptions(program.command('import <file>')))
    .description('expose the hosts of a file that are not exposed yet; changes and removes nothing')
    .action(async (file: string, options: OwnerOptions) => {
      const { comparison, api } = await compareWith(file, options)
      const { change, same, ...rest } = comparison
      const kept = { ...rest, change: [], surplus: [], same: same + change.length }
      await perform(kept, { ...options, prune: false }, api)
    })
  return withExample(command, 'drawbridge import exposures.yaml')
}

export interface FileOptions extends OwnerOptions {
  readonly file?: string
  readonly prune?: boolean
}

/** The options of a command that compares a file with the service. */
export const withFile = (command: Command): Command =>
  command
    .option('-f, --file <file>', 'a YAML file of exposures, as export prints it')
    .option('--prune', 'with -f: also remove exposures that are not in the file')

/** `drawbridge diff -f`: shows what an apply of the file would do, and what of it would be refused. */
export async function diffFile(file: string, { prune = false, json, ...options }: FileOptions): Promise<void> {
  const { comparisonLines, refusedLines } = await import('../views/exposures.ts')
  const { comparison, api } = await compareWith(file, options)
  const { acts, refused } = await actsOf(comparison, prune, api)
  const exitCode = refused[0]?.exitCode ?? (acts.length === 0 ? EXIT.ok : EXIT.differs)
  const lines = (screen: Screen) => [...comparisonLines(comparison, prune, screen), ...refusedLines(refused, screen)]
  print({ body: { ...comparison, refused }, lines, exitCode }, json)
}

/** `drawbridge apply -f`: shows the same, asks, and makes it so. */
export async function applyFile(file: string, options: FileOptions): Promise<void> {
  const { comparison, api } = await compareWith(file, options)
  await perform(comparison, options, api)
}

/** What is to be done, with plans that the service has made for it, and what of it the service refuses. */
async function actsOf(comparison: Comparison, prune: boolean, api: Api) {
  const { actsFor } = await import('../file/exposures.ts')
  const { foreseen } = await import('../file/foreseen.ts')
  const policy = await api.policy()
  const acts = actsFor(api, policy.zones, prune ? comparison : { ...comparison, surplus: [] })
  return { acts, refused: await foreseen(acts, policy, api.clock) }
}

async function compareWith(file: string, options: ApiOptions) {
  const { compare, readExposed } = await import('../file/exposures.ts')
  const { readExposures } = await import('../../config/exposures-file.ts')
  const listed = inFile(() => readExposures(file))
  const api = await apiClient(options)
  return { api, comparison: compare(listed, await readExposed(api), api.clock.now()) }
}

/** What is wrong in the file is a wrong use of the command. */
function inFile<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/**
 * Performs all acts one after the other, unless the service would refuse one of them: then nothing is changed. Stops at the first that
 * fails, and says what was done and what was not.
 */
async function perform(
  comparison: Comparison,
  { prune = false, json, ...options }: FileOptions,
  api: Api,
): Promise<void> {
  const { comparisonLines, doneLine, refusedLines } = await import('../views/exposures.ts')
  const { confirmOthers } = await import('../ownership.ts')
  const { otherOwner } = await import('../../client/owner-of.ts')
  const screen = standardOutput()
  if (!json) screen.print(...comparisonLines(comparison, prune, screen))
  const { acts, refused } = await actsOf(comparison, prune, api)
  const [first] = refused
  if (first) {
    const count = `Nothing was changed: ${refused.length} of ${acts.length} changes cannot be made.`
    const lines = (shown: Screen) => [...refusedLines(refused, shown), count]
    return print({ body: { done: [], refused }, lines, exitCode: first.exitCode }, json)
  }
  const done: Act[] = []
  if (acts.length > 0) {
    const me = await ownName(options.owner, process.env)
    const others = acts.flatMap(({ host, owner }) => otherOwner(host, owner, me) ?? [])
    const [question, action] = [`Apply ${acts.length} changes?`, `apply ${acts.length} changes`]
    await confirmOthers(others, me, { question, action, needsYes: true }, options)
    for (const act of acts) {
      await act.perform().catch((error: unknown) => {
        const left = acts.slice(done.length).map(({ host }) => host)
        process.stderr.write(
          `Failed at ${act.host}. Done: ${done.length} of ${acts.length}. Not done: ${left.join(', ')}.\n`,
        )
        throw error
      })
      done.push(act)
      if (!json) screen.print(doneLine(act))
    }
  }
  const body = { done: done.map(({ verb, host }) => ({ verb, host })) }
  print({ body, lines: () => (acts.length === 0 ? ['Nothing to change.'] : []) }, json)
}

type Api = Awaited<ReturnType<typeof apiClient>>
