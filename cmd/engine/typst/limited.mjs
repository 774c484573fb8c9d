import vm from "node:vm";

const shared = vm.createContext({ __proto__: null });

// limited runs a function for some milliseconds of this process's time at most; then it throws ERR_SCRIPT_EXECUTION_TIMEOUT. The
// engine stops it by the clock, and on a busy machine a process may get little of that time: what then had less has more of the
// clock's, up to 16 times as much.
export function limited(run, milliseconds) {
  shared.run = run;
  for (let timeout = milliseconds; ; timeout *= 2) {
    const before = process.cpuUsage();
    try {
      return vm.runInContext("run()", shared, { timeout });
    } catch (e) {
      const { user, system } = process.cpuUsage(before);
      const hadItsTime = user + system >= 800 * milliseconds; // in microseconds; a tick may be missing
      if (e?.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT" || hadItsTime || timeout >= 16 * milliseconds) throw e;
    }
  }
}
