var MEMORY_TYPES=["user","feedback","project","reference"];function isMemoryType(value){return MEMORY_TYPES.includes(value)}export{MEMORY_TYPES,isMemoryType};
