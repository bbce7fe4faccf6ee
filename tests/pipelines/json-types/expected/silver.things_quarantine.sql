SELECT code, file_row, CAST(payload AS VARCHAR) FROM rows ORDER BY 2
