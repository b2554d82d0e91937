import type { Command } from 'commander'
import { type Configured, onThisMachine, withExample, withJson } from '../../terminal/declare.ts'
import { tell } from '../../terminal/told.ts'

/** `audit` itself reads through the API; `audit verify` follows the whole chain in the store. */
export function addAuditVerify(audit: Command): void {
  const command = onThisMachine(audit.command('verify'))
    .description('follow the audit chain on the server and find a changed or missing line')
    .action(async ({ config, json }: Configured) => {
      const { loadConfig } = await import('../../config/config.ts')
      const { open } = await import('../../main.ts')
      const { auditReport, verifyAudit } = await import('../audit-verify.ts')
      const store = await open(loadConfig(config, process.env), false)
      const verdict = await verifyAudit(store).finally(() => store.close())
      tell({ body: verdict, lines: () => [auditReport(verdict)], exitCode: verdict.ok ? 0 : 1 }, json)
    })
  withExample(withJson(command), 'drawbridge audit verify --config /etc/drawbridge/drawbridge.yaml')
}
