/**
 * What the log shows at the start. Redis's picture holds the process id and the port in the same
 * words, and test suites look for them there.
 */

export type LogoFacts = {
  version: string;
  redisVersion: string;
  /** "standalone" or "cluster". */
  mode: string;
  /** The plain port as configured; 0 if there is none. */
  port: number;
  processId: number;
};

/** The picture, with line ends. */
export function logo(facts: LogoFacts): string {
  const { version, redisVersion, mode, port, processId } = facts;
  return `
     ____________
    |__________ /      ZeroHop ${version} (Redis ${redisVersion}) 64 bit
           ___/ /
        ___/ ___/      Running in ${mode} mode
     __/ ___/          Port: ${port}
   _/ ___/             PID: ${processId}
  / /__________
 /____________|

`;
}
