const capitals = {France: "Paris", Germany: "Berlin", Japan: "Tokyo", Korea: "Seoul"};
module.exports = class { id() { return "capitals-good"; }
  async callApi(prompt, context) { const c = context.vars.country;
    if ("good" === "weak" && c === "Korea") return {error: "the provider is down"};
    return {output: ("good" === "good" || c === "France") ? capitals[c] : "Rome", tokenUsage: {total: 12, prompt: 10, completion: 2}, cost: 0.00001}; } };
